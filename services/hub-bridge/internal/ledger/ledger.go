// Package ledger keeps the last event of every subject of a part of the bus.
package ledger

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// Entry is the last event of a subject.
type Entry[T any] struct {
	Subject    string
	Sequence   uint64
	ReceivedAt time.Time
	Value      T
}

// Ledger is filled by Run and by what its owner publishes itself. It is safe
// for concurrent use.
type Ledger[T any] struct {
	// Refused, if set, gets what an events.Readable refused, which is not kept.
	// It runs on the goroutine of Run.
	Refused func(events.Message, error)

	decode func(events.Update) T
	clock  *events.Clock
	// onChange gets the subject, what was there (nil: nothing) and what is
	// (nil: nothing), except for Put; onSynced is called after each reading of the whole.
	onChange func(subject string, before, now *Entry[T])
	onSynced func()
	read     bool // in full, once; for the goroutine of Run

	mu        sync.Mutex
	entries   map[string]*Entry[T]
	synced    bool
	rereading bool
}

// New returns an empty ledger. decode takes what is to be kept of a message;
// the callbacks run on the goroutine of Run or Reread and may be nil.
func New[T any](clock *events.Clock, decode func(events.Update) T, onChange func(string, *Entry[T], *Entry[T]), onSynced func()) *Ledger[T] {
	if onChange == nil {
		onChange = func(string, *Entry[T], *Entry[T]) {}
	}
	if onSynced == nil {
		onSynced = func() {}
	}
	return &Ledger[T]{decode: decode, clock: clock, onChange: onChange, onSynced: onSynced, entries: map[string]*Entry[T]{}}
}

// Run follows the bus until ctx ends.
func (l *Ledger[T]) Run(ctx context.Context, w events.Watcher, watch events.Watch) error {
	return w.Watch(ctx, watch, func(u events.Update) error {
		l.apply(u)
		return nil
	})
}

func (l *Ledger[T]) apply(u events.Update) {
	l.observe(u)
	switch u.Kind {
	case events.Stored:
		if err := u.Refused(); err != nil && l.Refused != nil {
			l.Refused(u.Message, err)
			return
		}
		l.store(u)
	case events.Gone:
		l.remove(u.Message.Subject)
	case events.Behind:
		l.setSynced(false)
	case events.Synced:
		l.setSynced(true)
		l.onSynced()
	}
}

// observe takes note of server time. The first reading only catches up.
func (l *Ledger[T]) observe(u events.Update) {
	switch at := u.Message.ReceivedAt; {
	case at.IsZero():
	case l.read:
		l.clock.Follow(at, l.Synced() || u.Kind == events.Synced)
	default:
		l.clock.Observe(at)
	}
	l.read = l.read || u.Kind == events.Synced
}

func (l *Ledger[T]) store(u events.Update) {
	entry, m := l.entry(u), u.Message
	l.mu.Lock()
	before := l.entries[m.Subject]
	// While the whole is read anew, what the bus has counts, even if lower
	// than what was known: a store may have been restored. Otherwise the
	// message is older than one that this process published itself.
	if before != nil && entry.Sequence <= before.Sequence && !l.rereading {
		l.mu.Unlock()
		return
	}
	l.entries[m.Subject] = entry
	l.mu.Unlock()
	l.onChange(m.Subject, before, entry)
}

func (l *Ledger[T]) entry(u events.Update) *Entry[T] {
	return &Entry[T]{Subject: u.Message.Subject, Sequence: u.Message.Sequence, ReceivedAt: u.Message.ReceivedAt, Value: l.decode(u)}
}

func (l *Ledger[T]) remove(subject string) {
	if before := l.Get(subject); before != nil {
		l.swap(subject, before, nil)
	}
}

func (l *Ledger[T]) setSynced(synced bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.synced, l.rereading = synced, !synced
}

// Get returns the last event of subject, nil for none.
func (l *Ledger[T]) Get(subject string) *Entry[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[subject]
}

// Last reports whether e is still the last event of its subject, and the
// ledger certain of it.
func (l *Ledger[T]) Last(e *Entry[T]) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.synced && l.entries[e.Subject] == e
}

// Put takes note of an event that its owner has published itself, unless a
// later one is known already.
func (l *Ledger[T]) Put(e Entry[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.entries[e.Subject]; known == nil || known.Sequence < e.Sequence {
		l.entries[e.Subject] = &e
	}
}

// Reread asks the bus's leader for the last event of subject, after a
// conflict.
func (l *Ledger[T]) Reread(ctx context.Context, g events.Getter, stream, subject string) error {
	before := l.Get(subject)
	m, err := g.Last(ctx, stream, subject)
	if errors.Is(err, events.ErrNotFound) {
		l.swap(subject, before, nil)
		return nil
	}
	if err != nil {
		return err
	}
	l.swap(subject, before, l.entry(events.Update{Message: m}))
	return nil
}

// swap replaces before by now, unless the watch was faster.
func (l *Ledger[T]) swap(subject string, before, now *Entry[T]) {
	l.mu.Lock()
	if l.entries[subject] != before {
		l.mu.Unlock()
		return
	}
	if now == nil {
		delete(l.entries, subject)
	} else {
		l.entries[subject] = now
	}
	l.mu.Unlock()
	if before != nil || now != nil {
		l.onChange(subject, before, now)
	}
}

// Synced reports whether the ledger holds what the bus holds.
func (l *Ledger[T]) Synced() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.synced
}

// Subjects returns those that have an event, sorted.
func (l *Ledger[T]) Subjects() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.entries))
}

// Len is how many subjects have an event.
func (l *Ledger[T]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}
