package eventstest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/internal/filter"
	"github.com/spokewire/spokewire/pkg/events/internal/view"
)

// Watch implements events.Watcher.
func (b *Bus) Watch(ctx context.Context, w events.Watch, fn func(events.Update) error) error {
	if err := w.Validate(); err != nil {
		return err
	}
	if b.store.streams[w.Stream] == nil {
		return fmt.Errorf("%w: there is no stream %s", events.ErrInvalidOption, w.Stream)
	}
	seen := view.New(w)
	for {
		if err := b.wait(ctx); err != nil {
			return err
		}
		lost := b.session()
		position, err := b.read(w, seen, fn)
		if err != nil {
			return err
		}
		if err := b.follow(ctx, lost, w, position, seen, fn); err != nil {
			return err
		}
		if err := fn(events.Update{Kind: events.Behind, Message: events.Message{Stream: w.Stream}}); err != nil {
			return err
		}
	}
}

// read hands on the state and returns up to which sequence it goes.
func (b *Bus) read(w events.Watch, seen *view.View, fn func(events.Update) error) (uint64, error) {
	state, position, now := b.store.state(w)
	seen.Begin()
	for _, m := range state {
		if seen.Take(m) {
			if err := fn(events.Update{Kind: events.Stored, Message: m}); err != nil {
				return 0, err
			}
		}
	}
	for _, subject := range seen.Gone() {
		gone := events.Message{Stream: w.Stream, Subject: subject}
		if err := fn(events.Update{Kind: events.Gone, Message: gone}); err != nil {
			return 0, err
		}
	}
	synced := events.Message{Stream: w.Stream, Sequence: position, ReceivedAt: now}
	return position, fn(events.Update{Kind: events.Synced, Message: synced})
}

// follow hands on what is stored after position until the connection is
// lost.
func (b *Bus) follow(ctx context.Context, lost chan struct{}, w events.Watch, position uint64, seen *view.View, fn func(events.Update) error) error {
	for {
		var changed chan struct{}
		var found []events.Message
		found, position, changed = b.store.news(w, position)
		for _, m := range found {
			seen.Take(m)
			if err := fn(events.Update{Kind: events.Stored, Message: m}); err != nil {
				return err
			}
		}
		select {
		case <-lost:
			return nil
		case <-changed:
		case <-b.closed:
			return events.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
		if isClosed(lost) {
			return nil // what was stored since is for the next reading
		}
	}
}

func (s *store) state(w events.Watch) (state []events.Message, position uint64, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	st := s.streams[w.Stream]
	if w.Since.IsZero() {
		for subject := range st.subjects {
			if filter.MatchAny(w.Subjects, subject) {
				state = append(state, st.last(subject).message)
			}
		}
		slices.SortFunc(state, func(a, b events.Message) int { return cmp.Compare(a.Sequence, b.Sequence) })
		return state, st.newest, s.now()
	}
	for _, r := range st.after(0, w.Subjects) {
		if !r.message.ReceivedAt.Before(w.Since) {
			state = append(state, r.message)
		}
	}
	return state, st.newest, s.now()
}

// news returns the events after position, and what is closed when there are
// more.
func (s *store) news(w events.Watch, position uint64) ([]events.Message, uint64, chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[w.Stream]
	var found []events.Message
	for _, r := range st.after(position, w.Subjects) {
		found = append(found, r.message)
	}
	return found, st.newest, s.changed
}
