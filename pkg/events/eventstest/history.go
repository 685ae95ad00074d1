package eventstest

import (
	"context"
	"fmt"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/internal/filter"
)

var _ events.Historian = (*Bus)(nil)

// Past implements events.Historian.
func (b *Bus) Past(ctx context.Context, p events.Past, fn func(events.Message) error) (events.Extent, error) {
	if err := p.Validate(); err != nil {
		return events.Extent{}, err
	}
	if err := b.wait(ctx); err != nil {
		return events.Extent{}, fmt.Errorf("past of %s: %w", p.Stream, err)
	}
	extent, found, err := b.store.past(p)
	if err != nil {
		return extent, err
	}
	for _, m := range found {
		if err := fn(m); err != nil {
			return extent, err
		}
	}
	return extent, nil
}

func (s *store) past(p events.Past) (events.Extent, []events.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	st := s.streams[p.Stream]
	if st == nil {
		return events.Extent{}, nil, fmt.Errorf("past of %s: %w", p.Stream, events.ErrNotFound)
	}
	extent := events.Extent{Position: p.Position, Now: s.now(), Ended: p.Position > st.newest}
	if p.Position == 0 || extent.Ended {
		extent.Position = st.newest
	}
	var found []events.Message
	for subject, records := range st.subjects {
		if !filter.MatchAny(p.Subjects, subject) {
			continue
		}
		at := -1
		for i, r := range records {
			if r.message.Sequence <= extent.Position {
				at = i
			}
		}
		switch {
		case at >= 0:
			found = append(found, records[at].message)
		case st.decl.PerSubject > 0 && int64(len(records)) >= st.decl.PerSubject:
			extent.Lost = append(extent.Lost, subject)
		default:
			extent.Later = append(extent.Later, subject)
		}
	}
	return extent, found, nil
}

// Next implements events.Historian.
func (b *Bus) Next(ctx context.Context, stream, subjects string, after uint64) (events.Message, error) {
	if err := (events.Past{Stream: stream, Subjects: []string{subjects}}).Validate(); err != nil {
		return events.Message{}, err
	}
	if err := b.wait(ctx); err != nil {
		return events.Message{}, fmt.Errorf("next of %s: %w", subjects, err)
	}
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	b.store.expire()
	if s := b.store.streams[stream]; s != nil {
		if records := s.after(after, []string{subjects}); len(records) > 0 {
			return records[0].message, nil
		}
	}
	return events.Message{}, fmt.Errorf("%s after %d in %s: %w", subjects, after, stream, events.ErrNotFound)
}
