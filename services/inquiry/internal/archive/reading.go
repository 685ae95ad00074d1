package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/inquiry"
	"github.com/spokewire/spokewire/internal/placement"
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
	position := r.Basis[what.Stream] // all of today's is read up to one position
	if r.decision != nil {
		var known bool
		position, known = r.decision.Basis[what.Stream]
		if !known && what.Stream == events.StreamConfig {
			return nil // the fleet had no policy
		}
		if !known {
			r.lose(what.Stream, "(the decision does not say up to which position)")
			return nil
		}
		if position == 0 {
			return nil // there was nothing
		}
	}
	var withdrawn []events.Received
	past := events.Past{Stream: what.Stream, Subjects: what.Subjects, Position: position}
	extent, err := r.archive.Bus.Past(r.ctx, past, func(m events.Message) error {
		received, err := events.Read(m)
		switch {
		case err != nil:
			r.unreadable(m)
		case !r.shallow && inquiry.Withdrawn(&received):
			withdrawn = append(withdrawn, received)
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
	return r.takeWithdrawn(withdrawn)
}

// unreadable notes a bad event of the past. The service that decided kept
// what it knew before, which is not looked for.
func (r *reading) unreadable(m events.Message) {
	if r.decision != nil && r.Matters(m.Subject) {
		r.lose(m.Stream, m.Subject+" (cannot be read)")
	}
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

// maxBack bounds how far back a withdrawn score is followed: as many events
// as the stream keeps.
const maxBack = 64

// takeWithdrawn takes in scores without a value after what was before them.
func (r *reading) takeWithdrawn(list []events.Received) error {
	for i := range list {
		r.Withdrawn = true
		chain := []events.Received{list[i]}
		for len(chain) < maxBack && inquiry.Withdrawn(&chain[len(chain)-1]) {
			before, err := r.before(chain[len(chain)-1].Message)
			if err != nil {
				return err
			}
			if before == nil {
				break
			}
			chain = append(chain, *before)
		}
		for _, received := range slices.Backward(chain) {
			r.Take(&received)
		}
	}
	return nil
}

// before returns the event before m, nil if there is none.
func (r *reading) before(m events.Message) (*events.Received, error) {
	if m.Sequence <= 1 {
		return nil, nil
	}
	var found *events.Received
	past := events.Past{Stream: m.Stream, Subjects: []string{m.Subject}, Position: m.Sequence - 1}
	_, err := r.archive.Bus.Past(r.ctx, past, func(m events.Message) error {
		if received, err := events.Read(m); err == nil {
			found = &received
		}
		return nil
	})
	return found, err
}

func keyOf(text string) (placement.Key, bool) {
	namespace, name, found := strings.Cut(text, "/")
	return placement.Key{Namespace: namespace, Name: name}, found && namespace != "" && name != ""
}
