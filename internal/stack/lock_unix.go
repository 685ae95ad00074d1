//go:build unix

package stack

import (
	"os"
	"syscall"
)

// tryLock takes the lock of a file, alone or together with others who look,
// and does not wait for it.
func tryLock(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	return syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
}
