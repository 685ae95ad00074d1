package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
)

// Work implements events.Worker. The order within a subject and the bound of
// one at a time hold within one Work; several with the same durable share
// its events.
func (b *Bus) Work(ctx context.Context, w events.Work, h events.Handler) error {
	w, err := w.WithDefaults()
	if err != nil {
		return err
	}
	d := newDesk(ctx, b, w, h)
	defer d.close()
	for failures := 1; ; failures++ {
		began := time.Now()
		err := b.workOnce(ctx, w, d)
		if err := b.down(ctx); err != nil {
			return err
		}
		if useless(err) {
			return fmt.Errorf("work %s: %w: %w", w.Durable, events.ErrInvalidOption, b.secrets.wrap(err))
		}
		if time.Since(began) > time.Minute {
			failures = 1
		}
		b.options.Log.Warn("work starts over", "stream", w.Stream, "durable", w.Durable, "err", b.secrets.wrap(err))
		if err := b.pause(ctx, failures); err != nil {
			return err
		}
	}
}

// workOnce hands messages to d until the consumer fails.
func (b *Bus) workOnce(ctx context.Context, w events.Work, d *desk) error {
	session := b.link.current()
	if err := b.ensureDurable(ctx, w); err != nil {
		return err
	}
	p, err := b.pull(w.Stream, w.Durable, w.MaxInFlight)
	if err != nil {
		return err
	}
	defer b.giveBack(p)
	for {
		m, err := p.receive(ctx, session)
		if errors.Is(err, errIdle) {
			continue
		}
		if err != nil {
			return err
		}
		next, err := deliveryOf(m)
		if err != nil {
			return err
		}
		next.message.MaxDeliveries = w.MaxDeliveries
		d.take(next)
	}
}

// giveBack closes p and lets others have what it received but nobody took.
func (b *Bus) giveBack(p *puller) {
	p.close()
	for {
		select {
		case m := <-p.queue:
			if isStored(m) {
				_ = b.nc.Publish(m.Reply, []byte(answerNak)) // after AckWait otherwise
			}
		default:
			return
		}
	}
}

// ensureDurable creates the consumer or brings it up to date. The server
// sets no bound to deliveries: events.Settle does, once the handler has
// seen the last.
func (b *Bus) ensureDurable(ctx context.Context, w events.Work) error {
	bounded, cancel := context.WithTimeout(ctx, b.options.AckWait)
	defer cancel()
	_, err := b.js.CreateOrUpdateConsumer(bounded, w.Stream, jetstream.ConsumerConfig{
		Durable:        w.Durable,
		Description:    b.options.Name,
		DeliverPolicy:  jetstream.DeliverAllPolicy,
		AckPolicy:      jetstream.AckExplicitPolicy,
		AckWait:        w.AckWait,
		MaxDeliver:     -1,
		MaxAckPending:  w.MaxInFlight,
		FilterSubjects: w.Subjects,
	})
	return err
}
