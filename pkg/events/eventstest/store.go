package eventstest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/internal/filter"
)

// store is what the connections of a memory bus share.
type store struct {
	mu         sync.Mutex
	changed    chan struct{} // closed and replaced when something is stored
	now        func() time.Time
	maxPayload int
	streams    map[string]*stream
	durables   map[string]*durable
}

func newStore(streams []events.Stream) *store {
	s := &store{
		changed: make(chan struct{}), now: time.Now, maxPayload: DefaultMaxPayload,
		streams: map[string]*stream{}, durables: map[string]*durable{},
	}
	for _, decl := range streams {
		s.streams[decl.Name] = &stream{decl: decl, subjects: map[string][]*record{}, ids: map[string]*record{}}
	}
	return s
}

func (s *store) streamOf(subject string) *stream {
	for _, st := range s.streams {
		if filter.MatchAny(st.decl.Subjects, subject) {
			return st
		}
	}
	return nil
}

func (s *store) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *store) expire() {
	now := s.now()
	for _, st := range s.streams {
		st.expire(now)
	}
}

func (s *store) publish(subject string, h events.Header, data []byte, o events.PublishOptions) (events.Ack, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streamOf(subject)
	if st == nil {
		return events.Ack{}, fmt.Errorf("no stream takes it: %w", events.ErrNotFound)
	}
	if size := sizeOf(h, data); size > s.maxPayload {
		return events.Ack{}, fmt.Errorf("%w: %d bytes, at most %d", events.ErrTooLarge, size, s.maxPayload)
	}
	s.expire()
	if twin := st.twin(subject, h, o); twin != nil {
		return events.Ack{Stream: st.decl.Name, Sequence: twin.message.Sequence}, nil
	}
	if err := st.check(subject, o, sizeOf(h, data)); err != nil {
		return events.Ack{}, err
	}
	if o.Tombstone > 0 {
		st.removeAll(subject)
	}
	now := s.now()
	sequence := st.append(subject, h, data, now)
	r := st.last(subject)
	st.ids[o.MessageID] = r
	if o.Tombstone > 0 {
		r.expires = now.Add(o.Tombstone)
		st.mortal = append(st.mortal, r)
	}
	s.announce()
	return events.Ack{Stream: st.decl.Name, Sequence: sequence}, nil
}

// stream holds the events of one declared stream.
type stream struct {
	decl     events.Stream
	newest   uint64 // the last sequence given
	bytes    int64
	log      []*record // by sequence; removed ones are swept at times
	removed  int
	subjects map[string][]*record
	ids      map[string]*record
	mortal   []*record // those with a time to live of their own
}

type record struct {
	message events.Message
	size    int64
	removed bool
	expires time.Time
}

// twin returns the record that holds the same event already: under the same
// message id, or as the last of its subject where the publish is a
// compare-and-set. An id that another event has is no hindrance.
func (st *stream) twin(subject string, h events.Header, o events.PublishOptions) *record {
	id := h.Get("ce-id")
	same := func(r *record) bool {
		return r != nil && r.message.Subject == subject && r.message.Header.Get("ce-id") == id
	}
	if r := st.ids[o.MessageID]; same(r) || r != nil && o.Repeated {
		return r
	}
	if r := st.last(subject); o.ExpectLast != nil && same(r) {
		return r
	}
	return nil
}

func (st *stream) check(subject string, o events.PublishOptions, size int) error {
	if o.ExpectLast != nil {
		var last uint64
		if r := st.last(subject); r != nil {
			last = r.message.Sequence
		}
		if last != *o.ExpectLast {
			return fmt.Errorf("%w: its last event is %d, not %d", events.ErrConflict, last, *o.ExpectLast)
		}
	}
	if st.decl.Ingest && o.Tombstone > 0 {
		return fmt.Errorf("%w: stream %s takes no tombstones", events.ErrInvalidOption, st.decl.Name)
	}
	if st.decl.RefuseWhenFull && st.decl.MaxBytes > 0 && st.bytes+int64(size) > st.decl.MaxBytes {
		return fmt.Errorf("%w: %s holds %d bytes", events.ErrFull, st.decl.Name, st.bytes)
	}
	return nil
}

func (st *stream) append(subject string, h events.Header, data []byte, now time.Time) uint64 {
	st.newest++
	r := &record{size: int64(sizeOf(h, data)), message: events.Message{
		Stream: st.decl.Name, Subject: subject, Sequence: st.newest, ReceivedAt: now, Header: h, Data: data,
	}}
	st.log = append(st.log, r)
	st.bytes += r.size
	of := append(st.subjects[subject], r)
	if keep := int(st.decl.PerSubject); keep > 0 && len(of) > keep {
		st.remove(of[0])
		of = of[1:]
	}
	st.subjects[subject] = of
	for st.decl.MaxBytes > 0 && st.bytes > st.decl.MaxBytes && st.dropOldest(r) {
	}
	return st.newest
}

func (st *stream) last(subject string) *record {
	if of := st.subjects[subject]; len(of) > 0 {
		return of[len(of)-1]
	}
	return nil
}

// after returns the records with a sequence above position that match.
func (st *stream) after(position uint64, filters []string) []*record {
	from, _ := slices.BinarySearchFunc(st.log, position+1, func(r *record, sequence uint64) int {
		return int(int64(r.message.Sequence) - int64(sequence))
	})
	var found []*record
	for _, r := range st.log[from:] {
		if !r.removed && filter.MatchAny(filters, r.message.Subject) {
			found = append(found, r)
		}
	}
	return found
}
