// Package hubtest gives tests a real hub.
package hubtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/spokewire/spokewire/internal/hub"
)

// BinDir is the repository's bin, where make puts the hub's programs.
func BinDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "bin")
}

// Start runs a hub for one test.
func Start(t testing.TB) *hub.Hub {
	t.Helper()
	h, err := hub.Start(t.Context(), hub.DefaultOptions(BinDir()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Stop(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// Main runs a package's tests with one hub that they share, for TestMain. It
// returns the exit status.
func Main(m *testing.M, shared **hub.Hub) int {
	h, err := hub.Start(context.Background(), hub.DefaultOptions(BinDir()))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	*shared = h
	status := m.Run()
	if err := h.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}
