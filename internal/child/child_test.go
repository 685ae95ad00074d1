package child

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spokewire/spokewire/internal/testwait"
)

func TestAChildIsStartedAgainUntilItIsStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	program := Program{Name: "sleeper", Path: "/bin/sh", Args: []string{"-c", "echo started $WHO; exec sleep 600"}, Env: []string{"WHO=me"}}
	c, err := Start(t.Context(), program, dir, log)
	if err != nil {
		t.Fatal(err)
	}
	starts := func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "sleeper.log"))
		return strings.Count(string(text), "started me")
	}
	testwait.Eventually(t, "the child runs", func() bool { return starts() == 1 })
	first := c.PID()
	if err := c.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testwait.Eventually(t, "the child runs again", func() bool { return c.PID() != first })
	testwait.Eventually(t, "both starts are in the log", func() bool { return starts() == 2 })
	last := c.PID()
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(last, 0); err == nil {
		t.Errorf("process %d lives on after stop", last)
	}
}

func TestAChildThatCannotStartSaysSo(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Program{Name: "ghost", Path: "/does/not/exist"}, t.TempDir(), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "start ghost") {
		t.Errorf("Start() = %v, want an error that names the program", err)
	}
}
