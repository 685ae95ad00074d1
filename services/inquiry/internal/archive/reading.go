package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spokewire/spokewire/internal/inquiry"
	"github.com/spokewire/spokewire/internal/intake"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// maxLost bounds the inputs that are listed as lost.
const maxLost = 32

// reading is one Scene under way.
type reading struct {
	*Found
	ctx      context.Context
	archive  *Archive
	decision *schemas.PlacementDecision // nil for today's
	shallow  bool
	began    time.Time // in server time
}

func (a *Archive) reading(ctx context.Context, s *inquiry.Scene, d *schemas.PlacementDecision) *reading {
	return &reading{Found: &Found{Scene: s, Basis: map[string]uint64{}}, ctx: ctx, archive: a, decision: d}
}

func (r *reading) lose(stream, subject string) {
	if text := stream + " " + subject; len(r.Lost) < maxLost && !slices.Contains(r.Lost, text) {
		r.Lost = append(r.Lost, text)
	}
}

// read takes in what the stream says at the position.
func (r *reading) read(what inquiry.Read) error {
	position, there := r.position(what.Stream)
	if !there {
		return nil
	}
	var later later
	past := events.Past{Stream: what.Stream, Subjects: what.Subjects, Position: position}
	extent, err := r.archive.Bus.Past(r.ctx, past, func(m events.Message) error {
		received, err := intake.Read(m)
		switch {
		case err != nil:
			later.refused = append(later.refused, refusal{m, err})
		case !r.shallow && inquiry.Withdrawn(&received):
			later.withdrawn = append(later.withdrawn, received)
		default:
			r.Take(&received)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading %s: %w", what.Stream, err)
	}
	r.Basis[what.Stream] = extent.Position
	if r.began.IsZero() {
		r.began = extent.Now
	}
	if err := r.check(what.Stream, &extent, position); err != nil {
		return err
	}
	return r.takeLater(&later)
}

// position is up to where the stream is read, 0 for its end, and whether
// there is anything to read of it.
func (r *reading) position(stream string) (position uint64, there bool) {
	if r.decision == nil {
		return r.Basis[stream], true // all of today's is read up to one position
	}
	position, known := r.decision.Basis[stream]
	if !known && stream != events.StreamConfig { // without which the fleet had no policy
		r.lose(stream, "(the decision does not say up to which position)")
	}
	return position, position > 0
}

// check notes what is not kept any more.
func (r *reading) check(stream string, e *events.Extent, position uint64) error {
	if r.decision == nil {
		return nil
	}
	if e.Ended {
		r.lose(stream, fmt.Sprintf("(ends at %d, before %d)", e.Position, position))
	}
	for _, subject := range e.Lost {
		if r.Matters(subject) {
			r.lose(stream, subject)
		}
	}
	for _, subject := range e.Later {
		if len(r.Lost) >= maxLost || !r.Matters(subject) {
			continue
		}
		m, err := r.archive.Bus.Next(r.ctx, stream, subject, 0)
		switch {
		case errors.Is(err, events.ErrNotFound): // gone meanwhile
			r.lose(stream, subject)
		case err != nil:
			return err
		case inquiry.Tombstone(m): // it displaced what was before
			r.lose(stream, subject)
		}
	}
	return nil
}
