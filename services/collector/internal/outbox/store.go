package outbox

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.etcd.io/bbolt"

	"github.com/spokewire/spokewire/pkg/events"
)

// Errors.
var (
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("the outbox is closed")
	// ErrFull: the snapshot does not fit, even with all superseded ones gone.
	ErrFull = errors.New("the outbox is full of current snapshots: raise outbox.maxBytes")
)

// Options of a Store.
type Options struct {
	// MaxBytes bounds what is stored, 0 means no bound. The file may grow to
	// about twice that.
	MaxBytes int64
	// Log hears of dropped snapshots. Default: nothing is logged.
	Log *slog.Logger
	// Now tells the time, by default time.Now.
	Now func() time.Time

	shrinkOver  int64 // the constants of these names, unless a test sets them
	shrinkRatio int64
	shrinkEvery time.Duration
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.shrinkOver = cmp.Or(o.shrinkOver, shrinkOver)
	o.shrinkRatio = cmp.Or(o.shrinkRatio, shrinkRatio)
	o.shrinkEvery = cmp.Or(o.shrinkEvery, shrinkEvery)
	return o
}

// Snapshot is one that was taken out to be published.
type Snapshot struct {
	Source   Source
	Sequence uint64
	// MessageID is what the bus dedupes by.
	MessageID string
	// Taken is when the snapshot was taken. It has a monotonic reading if
	// this process took it.
	Taken time.Time
	// Fresh is false if an earlier process stored it, and may have sent it.
	Fresh bool
	// Event has the epoch and the sequence of the store.
	Event event.Event
}

// Stats is the state of a store.
type Stats struct {
	Depth  int
	Bytes  int64
	Oldest time.Time // zero if Depth is 0
	// Dropped counts the snapshots dropped for want of space since Open,
	// Unreadable those whose stored form could not be read.
	Dropped, Unreadable int
}

// Store is an outbox. Its methods may be called from many goroutines.
type Store struct {
	dir string
	id  identity
	opt Options

	mu      sync.Mutex // guards all below, and orders writes
	db      *bbolt.DB
	index   *index
	closed  bool
	stats   Stats // Dropped and Unreadable
	lastErr error
	changed chan struct{}            // closed at the next change
	waiting map[Source]chan struct{} // ditto, of one source
	notice  time.Time                // when dropping was last logged
	unsaid  int                      // dropped since
	shrunk  time.Time                // when shrinking was last tried
}

// Open opens the outbox in dir, creating it if needed. The error says what
// is wrong with the directory or the file.
func Open(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	db, aside, err := open(dir, o.Now())
	if err != nil {
		return nil, err
	}
	if aside != "" {
		o.Log.Error("the outbox file was unreadable: put aside, begun anew", "file", aside)
	}
	s := &Store{dir: dir, db: db, opt: o, changed: make(chan struct{}), waiting: map[Source]chan struct{}{}}
	if s.id, err = identify(db, o.Now()); err == nil {
		s.index, err = load(db)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// Close releases the file.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	for source := range s.waiting {
		s.announce(source)
	}
	s.announce(Source{})
	return s.db.Close()
}

// Put stores e, a snapshot of source that was taken at that time, makes it
// the current one and returns its sequence. If there is too much, the oldest
// superseded snapshots are dropped.
func (s *Store) Put(source Source, taken time.Time, e event.Event) (uint64, error) {
	value, err := encode(source, taken, e)
	if err != nil {
		return 0, fmt.Errorf("outbox: snapshot of %s: %w", source.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, ErrClosed
	}
	sequence, err := s.put(source, taken, value)
	if noSpace(err) && s.makeSpace(2*int64(len(value))) {
		sequence, err = s.put(source, taken, value)
	}
	if s.lastErr = err; err != nil {
		return 0, fmt.Errorf("outbox: snapshot of %s is lost: %w", source.Name, err)
	}
	return sequence, nil
}

func (s *Store) put(source Source, taken time.Time, value []byte) (uint64, error) {
	size := int64(len(value))
	evicted, err := s.fit(size, source)
	if err != nil {
		return 0, err
	}
	var sequence uint64
	err = s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(entryBucket)
		for _, e := range evicted {
			if err := b.Delete(key(e.sequence)); err != nil {
				return err
			}
		}
		if sequence, err = b.NextSequence(); err != nil {
			return err
		}
		return b.Put(key(sequence), value)
	})
	if err != nil {
		return 0, err
	}
	s.index.add(&entry{sequence: sequence, source: source, size: size, taken: taken, fresh: true})
	s.dropped(evicted)
	s.announce(source)
	return sequence, nil
}

// announce tells those who wait on Changed or on ChangedOf. The caller holds
// mu.
func (s *Store) announce(source Source) {
	close(s.changed)
	s.changed = make(chan struct{})
	if of := s.waiting[source]; of != nil {
		close(of)
		delete(s.waiting, source)
	}
}

// Changed returns a channel that is closed at the next change. Get it before
// looking.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// ChangedOf is Changed for the snapshots of one source: with thousands of
// sources, not each of those who wait looks at each change.
func (s *Store) ChangedOf(source Source) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.waiting[source]
	if of == nil {
		of = make(chan struct{})
		s.waiting[source] = of
		if s.closed {
			s.announce(source)
		}
	}
	return of
}

// Stats returns the state.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.Depth, stats.Bytes, stats.Oldest = s.index.depth, s.index.bytes, s.index.oldest()
	return stats
}

// Err returns why the last Put failed, nil if it did not.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return s.lastErr
}

// MessageID returns what the bus dedupes the snapshot by: nobody who does
// not know the store's nonce can guess it.
func (s *Store) messageID(sequence uint64) string {
	return fmt.Sprintf("%s-%d", s.id.nonce, sequence)
}

// stamp numbers an event.
func (s *Store) stamp(e *event.Event, sequence uint64) {
	e.SetExtension(events.ExtEpoch, fmt.Sprint(s.id.epoch))
	e.SetExtension(events.ExtSequence, fmt.Sprintf("%020d", sequence))
}
