package stack

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTwoStacksCannotShareADataDirectory(t *testing.T) {
	t.Parallel()
	l := layout(filepath.Join(t.TempDir(), "data"))
	if err := l.create(); err != nil {
		t.Fatal(err)
	}
	held, err := l.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.lock(t.Context()); err == nil || !strings.Contains(err.Error(), "--data") {
		t.Errorf("second lock() = %v, want an error that names --data", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := l.lock(t.Context())
	if err != nil {
		t.Fatalf("lock() after the first went: %v", err)
	}
	_ = again.Close()
}
