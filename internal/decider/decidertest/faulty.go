package decidertest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/pkg/events"
)

// ErrFault is what a Faulty bus returns.
var ErrFault = errors.New("no answer")

// Faulty is a bus of which so many publishes still fail, before or after the
// event was stored, and so many reads.
type Faulty struct {
	decider.Bus
	Before, After, Reads atomic.Int32
}

// Publish implements events.Publisher.
func (f *Faulty) Publish(ctx context.Context, subject string, e event.Event, opts ...events.PublishOption) (events.Ack, error) {
	if f.Before.Add(-1) >= 0 {
		return events.Ack{}, ErrFault
	}
	ack, err := f.Bus.Publish(ctx, subject, e, opts...)
	if err == nil && f.After.Add(-1) >= 0 {
		return events.Ack{}, ErrFault
	}
	return ack, err
}

// Last implements events.Getter.
func (f *Faulty) Last(ctx context.Context, stream, subject string) (events.Message, error) {
	if f.Reads.Add(-1) >= 0 {
		return events.Message{}, ErrFault
	}
	return f.Bus.Last(ctx, stream, subject)
}
