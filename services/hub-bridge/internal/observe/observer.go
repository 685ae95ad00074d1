// Package observe tells the bus what the hub holds.
package observe

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/ledger"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// Hub is what is read from the hub.
type Hub interface {
	// Observed returns nil where there is nothing to say of the object.
	Observed(kind, namespace, name string) (schemas.Payload, error)
}

// Bus is what is needed of the bus.
type Bus interface {
	events.Publisher
	events.Getter
}

// Said is what the bus was told last of an object.
type Said struct {
	Type   string
	Digest [sha256.Size]byte // of the data
}

// Keep keeps of an event what it takes to see whether the hub has changed since.
// What cannot be decoded is like nothing that the hub has.
func Keep(u events.Update) Said {
	e, err := events.Decode(u.Message)
	if err != nil {
		return Said{}
	}
	return Said{Type: e.Type(), Digest: sha256.Sum256(e.Data())}
}

// Options are the parts of an Observer. All but After are needed.
type Options struct {
	Service string
	Hub     Hub
	Bus     Bus
	Clock   *events.Clock
	Log     *slog.Logger
	Metrics prometheus.Registerer
	// All calls its argument with kind, namespace and name of every object
	// that the hub holds.
	All func(func(kind, namespace, name string))
	// After, if set, is called once the bus knows what the hub holds of an
	// object, with the sequence of the event that says so (0: none).
	After func(ctx context.Context, s events.Subject, sequence uint64) error
}

// Observer publishes what the hub holds, where it differs from what the bus
// was told last.
type Observer struct {
	Options
	Ledger    *ledger.Ledger[Said]
	queue     *work.Queue
	published *prometheus.CounterVec
}

// NewObserver returns an Observer that works on what is in queue.
func NewObserver(o Options, queue *work.Queue) *Observer {
	observer := &Observer{Options: o, queue: queue, published: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "spokewire_hub_bridge_published_total", Help: "Events published of what the hub holds, by kind and result.",
	}, []string{"kind", "result"})}
	o.Metrics.MustRegister(observer.published)
	observer.Ledger = ledger.New(o.Clock, Keep, func(subject string, _, _ *ledger.Entry[Said]) { queue.Add(subject) }, observer.all)
	return observer
}

// Watch is what the ledger follows.
func Watch() events.Watch { return events.Watch{Stream: events.StreamHub} }

// Changed asks for a look at an object.
func (o *Observer) Changed(kind, namespace, name string) {
	o.queue.Add(events.HubSubject(kind, namespace, name))
}

// Run publishes until ctx ends. The hub's caches must be synced, lest what
// is not read yet be taken for deleted.
func (o *Observer) Run(ctx context.Context, workers int) { o.queue.Run(ctx, workers, o.handle) }

// all looks at everything that the bus or the hub knows.
func (o *Observer) all() {
	for _, subject := range o.Ledger.Subjects() {
		o.queue.Add(subject)
	}
	o.All(o.Changed)
}

const publishTimeout = 10 * time.Second

func (o *Observer) handle(ctx context.Context, subject string) (time.Duration, error) {
	if !o.Ledger.Synced() {
		return 0, nil // looked at again when the ledger has caught up
	}
	s, err := events.ParseSubject(subject)
	if err != nil || s.Family != events.FamilyHub {
		return 0, nil // no subject of ours: somebody else's to mend
	}
	payload, err := o.Hub.Observed(s.Kind, s.Namespace, s.Name)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if err := o.say(ctx, subject, s, payload); err != nil {
		return 0, err
	}
	if o.After == nil {
		return 0, nil
	}
	var sequence uint64
	if last := o.Ledger.Get(subject); last != nil {
		sequence = last.Sequence
	}
	return 0, o.After(ctx, s, sequence)
}

// say publishes payload, or a tombstone for nil, unless the bus knows.
func (o *Observer) say(ctx context.Context, subject string, s events.Subject, payload schemas.Payload) error {
	last := o.Ledger.Get(subject)
	eventType := observedType(s.Kind)
	if payload == nil {
		if last == nil || schemas.IsDeleted(last.Value.Type) {
			return nil
		}
		return o.publish(ctx, subject, s.Kind, deletedType(s.Kind), &schemas.Deleted{Namespace: s.Namespace, Name: s.Name}, last, events.Tombstone())
	}
	data, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	if last != nil && last.Value == (Said{eventType, sha256.Sum256(data)}) {
		return nil
	}
	return o.publish(ctx, subject, s.Kind, eventType, payload, last)
}

func (o *Observer) publish(ctx context.Context, subject, kind, eventType string, payload schemas.Payload, last *ledger.Entry[Said], opts ...events.PublishOption) error {
	e, err := events.New(eventType, events.ServiceSource(o.Service), payload)
	if err != nil {
		// The hub holds what the bus cannot: no retry mends that.
		o.published.WithLabelValues(kind, "Invalid").Inc()
		o.Log.Error("an object of the hub cannot be told to the bus", "subject", subject, "error", err)
		return nil
	}
	var sequence uint64
	if last != nil {
		sequence = last.Sequence
	}
	ack, err := o.Bus.Publish(ctx, subject, e, append(opts, events.ExpectLast(sequence))...)
	switch {
	case errors.Is(err, events.ErrConflict):
		o.published.WithLabelValues(kind, "Conflict").Inc()
		return errors.Join(err, o.Ledger.Reread(ctx, o.Bus, events.StreamHub, subject))
	case errors.Is(err, events.ErrTooLarge):
		o.published.WithLabelValues(kind, "TooLarge").Inc()
		o.Log.Error("an object of the hub is too large for the bus", "subject", subject, "error", err)
		return nil
	case err != nil:
		o.published.WithLabelValues(kind, "Failed").Inc()
		return err
	}
	o.published.WithLabelValues(kind, "ok").Inc()
	o.Ledger.Put(ledger.Entry[Said]{
		Subject: subject, Sequence: ack.Sequence, ReceivedAt: o.Clock.Now(), Value: Said{e.Type(), sha256.Sum256(e.Data())},
	})
	return nil
}

func observedType(kind string) string { return "dev.spokewire.hub." + kind + ".observed.v1" }
func deletedType(kind string) string  { return "dev.spokewire.hub." + kind + ".deleted.v1" }
