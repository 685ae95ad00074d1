package secretfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spokewire/spokewire/internal/secretfile"
)

func TestReplaceLeavesOneFileThatItsOwnerAloneReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil { //nolint:gosec // as a careless user leaves it
		t.Fatal(err)
	}
	if err := secretfile.Replace(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v, want mode 0600", info, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "new" {
		t.Errorf("it holds %q, %v", text, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the directory holds %v, %v", files, err)
	}
}

func TestReplaceFailsAsAWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "directory")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := secretfile.Replace(path, nil); err == nil {
		t.Error("a directory was replaced")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("it left %v, %v", files, err)
	}
}
