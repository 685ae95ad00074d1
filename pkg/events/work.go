package events

import (
	"fmt"
	"strings"
	"time"

	"github.com/spokewire/spokewire/pkg/events/internal/filter"
)

// Work says which durable consumer to run.
type Work struct {
	Stream   string
	Durable  string // the consumer's name: the same name goes on where it stopped
	Subjects []string
	// MaxInFlight bounds the events that are out at a time. Default 64.
	MaxInFlight int
	// AckWait is after how long an unanswered event is handed out again.
	// Default 30 s.
	AckWait time.Duration
	// MaxDeliveries bounds the tries of one event. Default 10.
	MaxDeliveries int
}

// WithDefaults returns w with its defaults, or ErrInvalidOption.
func (w Work) WithDefaults() (Work, error) {
	if w.MaxInFlight == 0 {
		w.MaxInFlight = 64
	}
	if w.AckWait == 0 {
		w.AckWait = 30 * time.Second
	}
	if w.MaxDeliveries == 0 {
		w.MaxDeliveries = 10
	}
	switch {
	case w.MaxInFlight < 0 || w.AckWait < 0 || w.MaxDeliveries < 0:
		return w, fmt.Errorf("work %s: %w: negative bound", w.Durable, ErrInvalidOption)
	case w.Durable == "" || strings.ContainsAny(w.Durable, " \t\r\n.*>/\\"):
		return w, fmt.Errorf("work: %w: durable %q is not a consumer's name", ErrInvalidOption, w.Durable)
	}
	return w, checkFilters(w.Stream, w.Subjects)
}

// Validate returns ErrInvalidOption where w makes no sense.
func (w Watch) Validate() error { return checkFilters(w.Stream, w.Subjects) }

func checkFilters(stream string, filters []string) error {
	if stream == "" {
		return fmt.Errorf("%w: no stream is named", ErrInvalidOption)
	}
	for i, f := range filters {
		if err := filter.Check(f); err != nil {
			return fmt.Errorf("%s: %w: filter %w", stream, ErrInvalidOption, err)
		}
		for _, other := range filters[:i] {
			if filter.Overlap(f, other) {
				return fmt.Errorf("%s: %w: filters %q and %q overlap", stream, ErrInvalidOption, other, f)
			}
		}
	}
	return nil
}
