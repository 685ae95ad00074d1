package proc

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestParseCPU(t *testing.T) {
	t.Parallel()
	got, err := parseCPU([]byte("7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 150 25 9 9 20 0 5 0 100"))
	if want := 1750 * time.Millisecond; err != nil || got != want {
		t.Errorf("parseCPU() = %v, %v, want %v", got, err, want)
	}
	if _, err := parseCPU([]byte("7 (a) S 1")); err == nil {
		t.Error("parseCPU() takes a line that is cut off")
	}
}

func TestThisProcess(t *testing.T) {
	t.Parallel()
	m, err := MemoryOf(os.Getpid())
	if err != nil || m.Resident < 1<<20 || m.Peak < m.Resident {
		t.Errorf("MemoryOf() = %+v, %v, want at least 1 MiB, and a peak that is not less", m, err)
	}
	before, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; {
		now, err := CPU(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if now > before {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("CPU() stays at %v", before)
		}
	}
}

func TestChildrenArePinned(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if got := Children()["sleep"]; got != child.Process.Pid {
		t.Errorf("Children()[sleep] = %d, want %d", got, child.Process.Pid)
	}
	if err := Pin(t.Context(), child.Process.Pid, 0); err != nil {
		t.Error(err)
	}
}

func TestMachine(t *testing.T) {
	t.Parallel()
	m := Machine()
	if m.Cores < 1 || m.Memory < 1<<28 || m.Kernel == "" || m.Go == "" {
		t.Errorf("Machine() = %+v, want cores, memory, kernel and Go", m)
	}
}
