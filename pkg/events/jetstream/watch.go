package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/internal/view"
)

const (
	watchBatch = 1000
	// inactiveThreshold is after how long the server forgets the consumer of
	// a reader that is gone.
	inactiveThreshold = 30 * time.Second
	// resumeMargin is how far before the newest event a watch of history
	// reads again, in case the server's clock was set back.
	resumeMargin = time.Minute
	// minBacklog is how many events wait at least before a reader of the
	// newest skips. It skips only where the state is less than half of them.
	minBacklog = 1000
)

// errBacklog: so much waits that the state is read again instead.
var errBacklog = errors.New("too far behind to catch up")

// Watch implements events.Watcher. Each reading has a consumer of its own,
// which is thrown away with the connection: one that is resumed by sequence
// would skip events after the server lost the end of its log.
func (b *Bus) Watch(ctx context.Context, w events.Watch, fn func(events.Update) error) error {
	if err := w.Validate(); err != nil {
		return err
	}
	r := &reader{bus: b, watch: w, fn: fn, seen: view.New(w)}
	for failures := 1; ; failures++ {
		err := r.read(ctx)
		if r.stop != nil {
			return r.stop
		}
		if err := b.down(ctx); err != nil {
			return err
		}
		if useless(err) {
			return fmt.Errorf("watch %s: %w: %w", w.Stream, events.ErrInvalidOption, b.secrets.wrap(err))
		}
		if r.synced {
			failures = 1
			if err := r.behind(); err != nil {
				return err
			}
		}
		if errors.Is(err, errBacklog) {
			b.options.Log.Debug("reading skips to the newest events", "stream", w.Stream)
			continue
		}
		b.options.Log.Warn("reading starts over", "stream", w.Stream, "err", b.secrets.wrap(err))
		if err := b.pause(ctx, failures); err != nil {
			return err
		}
	}
}

// useless reports whether the server will never take such a consumer.
func useless(err error) bool {
	switch codeOf(err) {
	case jetstream.JSErrCodeOverlappingFilterSubjects, jetstream.JSErrCodeDuplicateFilterSubjects, errFilterNotSubset:
		return true
	}
	return false
}

// reader is one Watch under way.
type reader struct {
	bus    *Bus
	watch  events.Watch
	fn     func(events.Update) error
	seen   *view.View
	newest time.Time // receive time of the newest event
	synced bool
	stop   error // what fn returned
}

func (r *reader) emit(kind events.UpdateKind, m events.Message) error {
	r.stop = r.fn(events.Update{Kind: kind, Message: m})
	return r.stop
}

func (r *reader) behind() error {
	r.synced = false
	return r.emit(events.Behind, events.Message{Stream: r.watch.Stream})
}

// read reads the state and follows it until something fails.
func (r *reader) read(ctx context.Context) error {
	session := r.bus.link.current()
	state, err := r.position(ctx)
	if err != nil {
		return err
	}
	consumer, err := r.createConsumer(ctx)
	if err != nil {
		return err
	}
	info := consumer.CachedInfo()
	defer r.deleteConsumer(info.Name)
	p, err := r.bus.pull(r.watch.Stream, info.Name, watchBatch)
	if err != nil {
		return err
	}
	defer p.close()
	r.seen.Begin()
	state.left, state.at = info.NumPending, info.TimeStamp
	if state.complete() {
		if err := r.sync(&state); err != nil {
			return err
		}
	}
	for ordinal := uint64(1); ; ordinal++ {
		if err := r.step(ctx, session, p, ordinal, &state); err != nil {
			return err
		}
	}
}

// step hands on one message.
func (r *reader) step(ctx, session context.Context, p *puller, ordinal uint64, state *snapshot) error {
	m, err := p.receive(ctx, session)
	for errors.Is(err, errIdle) {
		if err := r.idle(ctx, state); err != nil {
			return err
		}
		m, err = p.receive(ctx, session)
	}
	if err != nil {
		return err
	}
	d, err := deliveryOf(m)
	if err != nil {
		return err
	}
	if d.ordinal != ordinal {
		return fmt.Errorf("message %d came instead of %d", d.ordinal, ordinal)
	}
	if err := r.take(d); err != nil {
		return err
	}
	if r.synced {
		return r.keepUp(d)
	}
	if state.take(d.message.Sequence, d.pending); state.complete() {
		return r.sync(state)
	}
	return nil
}

// keepUp ends a reading of the newest that is far behind.
func (r *reader) keepUp(d delivery) error {
	newest := r.watch.Newest && r.watch.Since.IsZero()
	if newest && d.pending >= max(minBacklog, 2*uint64(r.seen.Len())) { //nolint:gosec // a length is not negative
		return errBacklog
	}
	return nil
}

// idle ends a snapshot of which some messages were removed meanwhile. Where
// the server is behind the leader it only seems so.
func (r *reader) idle(ctx context.Context, state *snapshot) error {
	if r.synced {
		return nil
	}
	state.left = 0
	if err := r.aim(ctx, state); err != nil || !state.complete() {
		return err
	}
	return r.sync(state)
}

func (r *reader) take(d delivery) error {
	m := d.message
	m.Deliveries = 0
	if m.ReceivedAt.After(r.newest) {
		r.newest = m.ReceivedAt
	}
	if !r.seen.Take(m) {
		return nil
	}
	return r.emit(events.Stored, m)
}

func (r *reader) sync(state *snapshot) error {
	for _, subject := range r.seen.Gone() {
		if err := r.emit(events.Gone, events.Message{Stream: r.watch.Stream, Subject: subject}); err != nil {
			return err
		}
	}
	r.synced = true
	return r.emit(events.Synced, events.Message{Stream: r.watch.Stream, Sequence: state.last, ReceivedAt: state.at})
}

func (r *reader) createConsumer(ctx context.Context) (jetstream.Consumer, error) {
	config := jetstream.ConsumerConfig{
		Name:              "watch-" + events.NewID(),
		Description:       r.bus.options.Name,
		DeliverPolicy:     jetstream.DeliverLastPerSubjectPolicy,
		AckPolicy:         jetstream.AckNonePolicy,
		FilterSubjects:    r.filters(),
		InactiveThreshold: inactiveThreshold,
		MemoryStorage:     true,
		Replicas:          1,
	}
	if start := r.start(); !start.IsZero() {
		config.DeliverPolicy = jetstream.DeliverByStartTimePolicy
		config.OptStartTime = &start
	}
	bounded, cancel := context.WithTimeout(ctx, r.bus.options.AckWait)
	defer cancel()
	return r.bus.js.CreateConsumer(bounded, r.watch.Stream, config)
}

// deleteConsumer spares the server the wait of inactiveThreshold.
func (r *reader) deleteConsumer(name string) {
	if !r.bus.Connected() {
		return
	}
	bounded, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.bus.js.DeleteConsumer(bounded, r.watch.Stream, name) // it goes by itself otherwise
}
