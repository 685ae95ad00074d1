package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
)

func letterRow(l *inventory.Letter, now time.Time) []string {
	message := l.Message
	if l.Dropped != nil {
		message = "dropped " + age(now, *l.Dropped) + " ago: " + message
	}
	return []string{l.ID, age(now, l.ReceivedAt), l.Reason, l.Field, l.Subject, strconv.Itoa(l.Size), message}
}

const retryLong = `Publish a dead letter's event again, on its own subject, once what made a
service refuse it is mended.

Its attributes stay as they are, but for its age, which grows by the time that
it lay: an old metric does not become fresh. It is not published where its
subject has a newer event, which it would replace, nor where its body was too
large to be kept whole. With that, the dead letter is dealt with: it is dropped,
as dead drop does.`

func (a *app) newDeadRetry() *cobra.Command {
	c := &cobra.Command{
		Use:   "retry ID",
		Short: "Publish a dead letter's event again",
		Long:  retryLong,
		Args:  checked(letterID),
	}
	c.RunE = a.onBus(func(ctx context.Context, c *cobra.Command, b bus, args []string) error {
		l, now, err := readLetter(ctx, b, args[0])
		if err != nil {
			return err
		}
		s, err := retry(ctx, b, l, now)
		if err != nil {
			return fmt.Errorf("%s: %w", l.ID, err)
		}
		if err := drop(ctx, b, []inventory.Letter{*l}); err != nil {
			return fmt.Errorf("%s is published again, as %d in %s, but not dropped: %w", l.ID, s.Sequence, s.Stream, err)
		}
		return a.print(c.OutOrStdout(), s, s.write)
	})
	a.addBus(c)
	a.addOutput(c)
	return c
}

// retry publishes the event of l, at now of the server's time.
func retry(ctx context.Context, b bus, l *inventory.Letter, now time.Time) (*stored, error) {
	e, err := revive(l, now)
	if err != nil {
		return nil, err
	}
	last, err := b.Last(ctx, l.Stream, l.Subject)
	switch {
	case errors.Is(err, events.ErrNotFound):
	case err != nil:
		return nil, err
	case last.Sequence > l.Sequence:
		return nil, fmt.Errorf("%s has a newer event, %d, which this old one would replace: it is not published", l.Subject, last.Sequence)
	}
	// The stream may still know the event's own id, and would drop it.
	ack, err := b.Publish(ctx, l.Subject, e, events.ExpectLast(last.Sequence), events.WithMessageID(events.NewID()))
	if err != nil {
		return nil, err
	}
	return &stored{Stream: ack.Stream, Sequence: ack.Sequence, Subject: l.Subject, ID: e.ID()}, nil
}

// revive reads the event out of a dead letter, as old as it is by now. It
// refuses one that would only come to be a dead letter again.
func revive(l *inventory.Letter, now time.Time) (event.Event, error) {
	if l.Size > len(l.Body) {
		return event.Event{}, fmt.Errorf("only %d of %d bytes were kept: publish it from its source", len(l.Body), l.Size)
	}
	header := events.Header{}
	for key, value := range l.Headers {
		header.Set(key, value)
	}
	r, err := events.Read(events.Message{Subject: l.Subject, Header: header, Data: l.Body, ReceivedAt: l.ReceivedAt})
	if err != nil {
		return event.Event{}, fmt.Errorf("it can only be published again as it should have been: %w", err)
	}
	age := max(now.Sub(r.ObservedAt), 0)
	r.Event.SetExtension(events.ExtAge, strconv.FormatInt(age.Milliseconds(), 10))
	if err := readableOn(l.Subject, r.Event); err != nil {
		return event.Event{}, fmt.Errorf("it cannot be published again: %w", err)
	}
	return r.Event, nil
}
