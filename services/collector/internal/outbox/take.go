package outbox

import (
	"fmt"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.etcd.io/bbolt"
)

// HasNewest reports whether source has a current snapshot, be it taken or
// not.
func (s *Store) HasNewest(source Source) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.newest(source) != nil
}

// TakeNewest returns the current snapshot of source. Whoever takes one owes
// a Done or a Release. false: there is none, or it is taken.
func (s *Store) TakeNewest(source Source) (Snapshot, bool) {
	return s.take(func() *entry { return s.index.newest(source) })
}

// TakeSuperseded returns the superseded snapshot that is due next, of a
// source that is not to be skipped. Whoever takes one owes a Done or a
// Release. false: there is none, or all wait for one of their source that is
// taken.
func (s *Store) TakeSuperseded(skip func(Source) bool) (Snapshot, bool) {
	return s.take(func() *entry { return s.index.superseded(skip) })
}

func (s *Store) take(choose func() *entry) (Snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closed {
		e := choose()
		if e == nil || e.held {
			return Snapshot{}, false
		}
		stored, err := s.read(e.sequence)
		if err == nil {
			e.held = true
			s.stamp(&stored, e.sequence)
			return Snapshot{
				Source: e.source, Sequence: e.sequence, MessageID: s.messageID(e.sequence),
				Taken: e.taken, Fresh: e.fresh, Event: stored,
			}, true
		}
		s.opt.Log.Error("a snapshot in the outbox is unreadable: left in the file", "sequence", e.sequence, "error", err)
		s.index.remove(e.source, e.sequence)
		s.stats.Unreadable++
	}
	return Snapshot{}, false
}

func (s *Store) read(sequence uint64) (event.Event, error) {
	var e event.Event
	err := s.db.View(func(tx *bbolt.Tx) error {
		_, body, err := split(tx.Bucket(entryBucket).Get(key(sequence)))
		if err != nil {
			return err
		}
		return e.UnmarshalJSON(body)
	})
	if err == nil {
		err = e.Validate()
	}
	return e, err
}

// Done removes a snapshot for good.
func (s *Store) Done(snapshot Snapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	// If the file refuses, the snapshot stays there, and is sent once more
	// after a restart; not before, or it would be sent for ever.
	s.index.remove(snapshot.Source, snapshot.Sequence)
	s.announce(snapshot.Source)
	err := s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(entryBucket).Delete(key(snapshot.Sequence)) })
	if err != nil {
		return fmt.Errorf("outbox: snapshot %d was sent, but stays in the file: %w", snapshot.Sequence, err)
	}
	s.shrink()
	return nil
}

// Release gives a snapshot back unsent.
func (s *Store) Release(snapshot Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.index.find(snapshot.Source, snapshot.Sequence); e != nil {
		e.held = false
	}
	s.announce(snapshot.Source)
}
