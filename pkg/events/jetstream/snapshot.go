package jetstream

import (
	"context"
	"errors"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// snapshot counts down what was stored when the reading began.
type snapshot struct {
	left uint64
	last uint64 // the position of the stream just before
	at   time.Time

	// Of several servers the one that has the consumer may be behind the
	// leader. target is the last event that is asked for, as the leader had it
	// just before; reached is the last one that came.
	replicated      bool
	target, reached uint64
}

func (s *snapshot) complete() bool { return s.left == 0 && s.reached >= s.target }

// take counts one message, after which so many were pending.
func (s *snapshot) take(sequence, pending uint64) {
	s.last, s.reached = max(s.last, sequence), max(s.reached, sequence)
	if s.left > 0 {
		s.left--
	}
	if pending == 0 {
		s.left = 0
	}
}

// position asks before the consumer is there, whose state so has all that was
// stored up to it.
func (r *reader) position(ctx context.Context) (snapshot, error) {
	bounded, cancel := context.WithTimeout(ctx, r.bus.options.AckWait)
	defer cancel()
	stream, err := r.bus.js.Stream(bounded, r.watch.Stream)
	if err != nil {
		return snapshot{}, err
	}
	info := stream.CachedInfo()
	state := snapshot{last: info.State.LastSeq, replicated: info.Config.Replicas > 1}
	return state, r.aim(ctx, &state)
}

// aim asks the leader for the last event that is asked for.
func (r *reader) aim(ctx context.Context, state *snapshot) error {
	state.target = 0
	if !state.replicated {
		return nil
	}
	for _, filter := range r.filters() {
		m, err := r.bus.get(ctx, r.watch.Stream, getRequest{LastSubject: filter})
		switch {
		case errors.Is(err, events.ErrNotFound):
		case err != nil:
			return err
		case !m.ReceivedAt.Before(r.start()):
			state.target = max(state.target, m.Sequence)
		}
	}
	return nil
}

// filters are what is read: one filter for all, since last-per-subject needs
// one.
func (r *reader) filters() []string {
	if len(r.watch.Subjects) > 0 {
		return r.watch.Subjects
	}
	return []string{">"}
}

// start is from when on a watch of history reads, zero for the state.
func (r *reader) start() time.Time {
	if again := r.newest.Add(-resumeMargin); !r.watch.Since.IsZero() && again.After(r.watch.Since) {
		return again
	}
	return r.watch.Since
}
