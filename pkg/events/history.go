package events

import (
	"context"
	"fmt"
	"time"

	"github.com/spokewire/spokewire/pkg/events/internal/filter"
)

// Historian reads what a stream held at an earlier position, as far as the
// stream still has it.
type Historian interface {
	// Past calls fn, from one goroutine, with the last event up to the
	// position of every subject that matches, in no particular order. It
	// returns fn's error, ctx's, ErrInvalidOption, ErrNotFound where there is
	// no such stream, or the transport's.
	Past(ctx context.Context, p Past, fn func(Message) error) (Extent, error)
	// Next returns the first event after a position whose subject the filter
	// covers, or ErrNotFound.
	Next(ctx context.Context, stream, filter string, after uint64) (Message, error)
}

// Past says what of a stream to read, and up to which position.
type Past struct {
	Stream string
	// Subjects are filters that do not overlap. Empty means all.
	Subjects []string
	// Position is a sequence of the stream, 0 for its end.
	Position uint64
}

// Extent says how far what was read can be trusted.
type Extent struct {
	// Position is up to where it was read: that of the question, or the end
	// of the stream where that comes before.
	Position uint64
	// Now was the server's time when the reading began.
	Now time.Time
	// Ended: the stream ends before the position that was asked for, so it
	// was restored from an earlier copy, or lost its end.
	Ended bool
	// Lost are matching subjects of which the stream holds as many events as
	// it keeps, all of them later: there may have been earlier ones.
	Lost []string
	// Later are matching subjects of which it holds fewer, all of them later:
	// nothing has displaced an earlier event, though a tombstone may have.
	Later []string
}

// Validate returns ErrInvalidOption, wrapped, where the stream is not named
// or a filter is none.
func (p Past) Validate() error {
	if p.Stream == "" {
		return fmt.Errorf("%w: the past of which stream?", ErrInvalidOption)
	}
	for _, f := range p.Subjects {
		if err := filter.Check(f); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidOption, err)
		}
	}
	return nil
}
