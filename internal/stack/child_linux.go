package stack

import "syscall"

// childAttributes puts a child into a process group of its own, so that
// Ctrl-C reaches it through the stack's orderly stop alone, and kills it if
// the stack is killed: with SIGTERM for all at once the API server would wait
// for an etcd that is gone.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
