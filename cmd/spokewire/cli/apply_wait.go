package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// do publishes the request and waits for the bridge's answer where one is
// awaited.
func (r *request) do(ctx context.Context, b bus) (*requested, error) {
	var before time.Time
	if r.receipts != "" {
		state, err := read(ctx, b, events.Watch{Stream: events.StreamReceipts, Subjects: []string{r.receipts}})
		if err != nil {
			return nil, err
		}
		before = state.Now()
	}
	ack, err := b.Publish(ctx, r.subject, r.event, r.options...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.object, err)
	}
	done := &requested{
		Object: r.object, Stream: ack.Stream, Sequence: ack.Sequence, ID: r.event.ID(),
		Deleted: schemas.IsDeleted(r.event.Type()),
	}
	if r.receipts == "" {
		return done, nil
	}
	done.Receipt, err = r.await(ctx, b, before, ack.Sequence)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &timeUp{fmt.Sprintf("%s stands in %s as %d, but the hub has not answered (is hub-bridge running? spokewire doctor says who writes to the hub; --wait=false does not wait)", r.object, ack.Stream, ack.Sequence)}
	case err != nil:
		return nil, fmt.Errorf("%s: waiting for the hub: %w", r.object, err)
	}
	return done, refusal(r.object, done.Receipt)
}

// receiptsOf is where the bridge answers whatever was asked of a Placement.
func receiptsOf(namespace, name string) string {
	return events.ReceiptSubject(events.KindPlacement, namespace, name)
}

// clockSlack covers what the local clock may have added to the server's time
// since that was read.
const clockSlack = 5 * time.Second

// await returns the receipt that answers the request, of those stored since
// before. A later decision's receipt may follow it on the same subject, so
// it is looked for by id, and not among the last ones only. A bridge that
// starts answers the last of several requests alone, which ends the wait for
// those before it.
func (r *request) await(ctx context.Context, b bus, before time.Time, sequence uint64) (*schemas.Receipt, error) {
	var answer *schemas.Receipt
	watch := events.Watch{Stream: events.StreamReceipts, Subjects: []string{r.receipts}, Since: before.Add(-clockSlack)}
	err := b.Watch(ctx, watch, func(u events.Update) error {
		if u.Kind != events.Stored {
			return nil
		}
		if answer = r.answeredBy(u.Message, sequence); answer != nil {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return answer, nil
	}
	return nil, err
}

// answeredBy returns m's receipt if it answers the request, which stands at
// sequence, or one that says Superseded if it shows that a later request was
// carried out. What cannot be read does not.
func (r *request) answeredBy(m events.Message, sequence uint64) *schemas.Receipt {
	received, err := events.Read(m)
	if err != nil {
		return nil
	}
	receipt, ok := received.Payload.(*schemas.Receipt)
	switch {
	case !ok:
		return nil
	case receipt.ID == r.event.ID():
		return receipt
	case receipt.Subject != r.subject || receipt.Sequence <= sequence:
		return nil
	case receipt.Outcome != schemas.OutcomeApplied && receipt.Outcome != schemas.OutcomeUnchanged:
		return nil // where it was refused, this one stays in force
	}
	return &schemas.Receipt{Subject: r.subject, Sequence: sequence, ID: r.event.ID(), Outcome: schemas.OutcomeSuperseded, At: receipt.At}
}

// refusal is the error of a request that the bridge did not carry out.
func refusal(object string, r *schemas.Receipt) error {
	switch r.Outcome {
	case schemas.OutcomeRefused:
		return fmt.Errorf("%s: the hub refused it: %s: %s", object, r.Reason, r.Message)
	case schemas.OutcomeSuperseded:
		return fmt.Errorf("%s: a newer request took its place before it was carried out", object)
	}
	return nil
}

// lastOf returns the last event of a subject. It returns ErrNotFound where
// there is none, or a tombstone.
func lastOf[T schemas.Payload](ctx context.Context, b bus, stream, subject string) (inventory.Entry[T], error) {
	var none inventory.Entry[T]
	m, err := b.Last(ctx, stream, subject)
	if err != nil {
		return none, err
	}
	r, err := events.Read(m)
	if err != nil {
		return none, err
	}
	value, ok := r.Payload.(T)
	if !ok {
		return none, fmt.Errorf("%s: %w: the last event is of type %s", subject, events.ErrNotFound, r.Event.Type())
	}
	return inventory.Entry[T]{Received: r, Value: value}, nil
}
