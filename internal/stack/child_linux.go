package stack

import "syscall"

// childAttributes puts a child into a process group of its own, so that
// Ctrl-C reaches it through the stack's orderly stop alone, and ends it with
// the stack if that is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
