package child

import "syscall"

// attributes puts a child into a process group of its own, so that
// Ctrl-C reaches it through its parent's orderly stop alone, and kills it if
// the parent is killed: with SIGTERM for all at once the API server would wait
// for an etcd that is gone.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
