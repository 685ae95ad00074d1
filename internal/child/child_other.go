//go:build unix && !linux

package child

import "syscall"

// attributes puts a child into a process group of its own, so that
// Ctrl-C reaches it through its parent's orderly stop alone.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
