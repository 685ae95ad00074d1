package record

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/llm"
)

func digest(n int) string { return fmt.Sprintf("%032x", n) }

func put(t *testing.T, s *Store, n int) {
	t.Helper()
	r := &Record{Digest: digest(n), At: time.Unix(int64(n), 0).UTC(), Asked: []byte(`{}`), Answer: []byte(`{}`), Rating: llm.Rating{Score: float64(n)}}
	if err := s.Put(r); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string, most int) *Store {
	t.Helper()
	s, err := Open(dir, most, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFilesThatAreNone are passed over at the start, and do not stop it.
func TestFilesThatAreNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, open(t, dir, 10), 1)
	for name, text := range map[string]string{
		digest(2) + ".json": `{"digest":"`, digest(3) + ".json": `{"digest":"` + digest(1) + `"}`, digest(4) + ".json.new": `{}`, "README": "hello",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir, 10)
	if r, known := s.Rating(digest(1)); !known || r.Score != 1 {
		t.Errorf("the rating is %v, %v", r, known)
	}
	for n := 2; n <= 4; n++ {
		if _, known := s.Rating(digest(n)); known {
			t.Errorf("%d has a rating", n)
		}
	}
}

// TestTheUnusedGoFirst, through a restart with room for fewer too.
func TestTheUnusedGoFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, 3)
	for n := range 3 {
		put(t, s, n)
	}
	s.Rating(digest(0))
	put(t, s, 3)
	if _, known := s.Rating(digest(1)); known {
		t.Error("the one that was not used for longest is there")
	}
	if _, known := s.Rating(digest(0)); !known {
		t.Error("one that was used is gone")
	}
	if s = open(t, dir, 1); s.order.Len() != 1 {
		t.Errorf("%d ratings are held, want 1", s.order.Len())
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%d files are kept (%v), want 1", len(files), err)
	}
}

func TestAFullDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "records")
	s := open(t, dir, 10)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(&Record{Digest: digest(1), Rating: llm.Rating{Score: 5}}); err == nil {
		t.Error("nothing is said of a record that is not kept")
	}
	if r, known := s.Rating(digest(1)); !known || r.Score != 5 {
		t.Errorf("the rating is %v, %v: it is known until a restart", r, known)
	}
}

// TestMemoryIsBounded where there is no directory.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	s := open(t, "", 10_000)
	for n := range maxHeld + 5 {
		put(t, s, n)
	}
	if _, err := s.Get(digest(0)); !errors.Is(err, fs.ErrNotExist) || len(s.held) != maxHeld {
		t.Errorf("%d whole records are held (%v), want %d", len(s.held), err, maxHeld)
	}
	if r, err := s.Get(digest(maxHeld)); err != nil || r.Rating.Score != maxHeld {
		t.Errorf("the record is %+v (%v)", r, err)
	}
	if _, known := s.Rating(digest(0)); !known {
		t.Error("its rating is gone")
	}
}
