// Package testlog shows what the processes of a test have written, once it
// has failed.
package testlog

import (
	"os"
	"path/filepath"
	"testing"
)

// most is how much of a log's end is shown, in bytes.
const most = 8192

// Print logs the end of each file DIR/*.log.
func Print(t testing.TB, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Error(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		t.Logf("%s:\n%s", filepath.Base(file), text[max(0, len(text)-most):])
	}
}
