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
)

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
	last, err := r.lastSequence(ctx)
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
	state := snapshot{left: info.NumPending, last: last, at: info.TimeStamp}
	if state.left == 0 {
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

// snapshot counts down what was stored when the reading began.
type snapshot struct {
	left uint64
	last uint64 // the position of the stream just before
	at   time.Time
}

// step hands on one message.
func (r *reader) step(ctx, session context.Context, p *puller, ordinal uint64, state *snapshot) error {
	m, err := p.receive(ctx, session)
	for errors.Is(err, errIdle) {
		if err := r.idle(state); err != nil {
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
		return nil
	}
	state.last = max(state.last, d.message.Sequence)
	if state.left--; state.left == 0 || d.pending == 0 {
		return r.sync(state)
	}
	return nil
}

// idle ends a snapshot of which some messages were removed meanwhile.
func (r *reader) idle(state *snapshot) error {
	if r.synced {
		return nil
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

// lastSequence asks before the consumer is there, whose state so has all that
// was stored up to it.
func (r *reader) lastSequence(ctx context.Context) (uint64, error) {
	bounded, cancel := context.WithTimeout(ctx, r.bus.options.AckWait)
	defer cancel()
	stream, err := r.bus.js.Stream(bounded, r.watch.Stream)
	if err != nil {
		return 0, err
	}
	return stream.CachedInfo().State.LastSeq, nil
}

func (r *reader) createConsumer(ctx context.Context) (jetstream.Consumer, error) {
	config := jetstream.ConsumerConfig{
		Name:          "watch-" + events.NewID(),
		Description:   r.bus.options.Name,
		DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
		AckPolicy:     jetstream.AckNonePolicy,
		// One filter for all, since last-per-subject needs one.
		FilterSubjects:    []string{">"},
		InactiveThreshold: inactiveThreshold,
		MemoryStorage:     true,
		Replicas:          1,
	}
	if len(r.watch.Subjects) > 0 {
		config.FilterSubjects = r.watch.Subjects
	}
	if !r.watch.Since.IsZero() {
		config.DeliverPolicy = jetstream.DeliverByStartTimePolicy
		start := r.watch.Since
		if again := r.newest.Add(-resumeMargin); again.After(start) {
			start = again
		}
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
