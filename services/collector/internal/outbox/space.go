package outbox

import (
	"errors"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// fit returns what must go to make room for size bytes of source, whose
// current snapshot is superseded by them.
func (s *Store) fit(size int64, source Source) ([]*entry, error) {
	if s.opt.MaxBytes == 0 {
		return nil, nil
	}
	need := s.index.bytes + size - s.opt.MaxBytes
	evicted := s.index.evictable(need)
	for _, e := range evicted {
		need -= e.size
	}
	if newest := s.index.newest(source); need > 0 && newest != nil && !newest.held {
		evicted = append(evicted, newest)
		need -= newest.size
	}
	if need > 0 {
		return nil, ErrFull
	}
	return evicted, nil
}

// makeSpace drops superseded snapshots of at least need bytes, as far as
// there are any, and reports whether it dropped one.
func (s *Store) makeSpace(need int64) bool {
	evicted := s.index.evictable(need)
	if len(evicted) == 0 {
		return false
	}
	err := s.db.Update(func(tx *bbolt.Tx) error {
		for _, e := range evicted {
			if err := tx.Bucket(entryBucket).Delete(key(e.sequence)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.dropped(evicted)
	}
	return err == nil
}

// noSpace reports whether err says that the disk, a quota or a limit is
// exhausted. bbolt does not wrap all errors of the system.
func noSpace(err error) bool {
	if err == nil {
		return false
	}
	for _, no := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, no) || strings.Contains(err.Error(), no.Error()) {
			return true
		}
	}
	return false
}

// noticeEvery bounds how often dropping is logged.
const noticeEvery = time.Minute

func (s *Store) dropped(evicted []*entry) {
	for _, e := range evicted {
		s.index.remove(e.source, e.sequence)
	}
	s.stats.Dropped += len(evicted)
	s.unsaid += len(evicted)
	now := s.opt.Now()
	if s.unsaid == 0 || !s.notice.IsZero() && now.Sub(s.notice) < noticeEvery {
		return
	}
	s.opt.Log.Warn("the outbox is full: the oldest superseded snapshots were dropped",
		"dropped", s.unsaid, "bytes", s.index.bytes, "maxBytes", s.opt.MaxBytes)
	s.notice, s.unsaid = now, 0
}
