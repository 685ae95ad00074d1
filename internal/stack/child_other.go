//go:build unix && !linux

package stack

import "syscall"

// childAttributes puts a child into a process group of its own, so that
// Ctrl-C reaches it through the stack's orderly stop alone.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
