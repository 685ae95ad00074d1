package outbox

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

const (
	// shrinkOver is the size of a file that may be shrunk, in bytes.
	shrinkOver = 16 << 20
	// shrinkRatio is how many times the live bytes it must be.
	shrinkRatio = 4
	// shrinkEvery bounds how often it is tried.
	shrinkEvery = time.Minute
	newSuffix   = ".new"
)

// shrink rewrites a file that an outage has left large and mostly empty:
// bbolt never gives space back, neither on the disk nor in the pages that it
// maps into memory. The caller holds mu.
func (s *Store) shrink() {
	now := s.opt.Now()
	if now.Sub(s.shrunk) < s.opt.shrinkEvery {
		return
	}
	path := filepath.Join(s.dir, fileName)
	info, err := os.Stat(path)
	if err != nil || info.Size() < s.opt.shrinkOver || info.Size() < s.opt.shrinkRatio*s.index.bytes {
		return
	}
	s.shrunk = now
	db, err := rewrite(s.db, path)
	if err != nil {
		s.opt.Log.Warn("the outbox file could not be shrunk", "bytes", info.Size(), "error", err)
		return
	}
	old := s.db
	s.db = db
	// What is stored from here on must not be lost with the new name.
	if err := errors.Join(syncDir(s.dir), old.Close()); err != nil {
		s.opt.Log.Warn("the outbox file was shrunk, but not cleanly", "error", err)
	}
}

// rewrite copies what db holds into a new file, which takes path's place at
// once and as a whole. On an error nothing has changed.
func rewrite(db *bbolt.DB, path string) (*bbolt.DB, error) {
	temporary := path + newSuffix
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	fresh, err := bbolt.Open(temporary, 0o600, &bbolt.Options{Timeout: lockWait})
	if err != nil {
		return nil, err
	}
	err = bbolt.Compact(fresh, db, 1<<20)
	if err == nil {
		err = fresh.Sync()
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return nil, errors.Join(err, fresh.Close(), os.Remove(temporary))
	}
	return fresh, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
