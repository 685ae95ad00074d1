package faults

import (
	"syscall"
	"unsafe"
)

// limitFileSize sets (new) or reads (old) how large the files of a running
// process may become.
func limitFileSize(pid int, limit, old *syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_FSIZE,
		uintptr(unsafe.Pointer(limit)), uintptr(unsafe.Pointer(old)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
