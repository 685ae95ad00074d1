package eventstest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// durable is what is left to do of one durable consumer.
type durable struct {
	work     events.Work
	position uint64
	queue    []*delivery // in order of sequence
	busy     map[string]bool
}

type delivery struct {
	message events.Message
	out     bool
	due     time.Time
}

// Work implements events.Worker. An event is handed out again at once when
// the Work that had it ends; AckWait only bounds the handler's context.
func (b *Bus) Work(ctx context.Context, w events.Work, h events.Handler) error {
	w, err := w.WithDefaults()
	if err != nil {
		return err
	}
	if b.store.streams[w.Stream] == nil {
		return fmt.Errorf("%w: there is no stream %s", events.ErrInvalidOption, w.Stream)
	}
	d := b.store.durable(w)
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, w.MaxInFlight)
	for {
		if err := b.wait(ctx); err != nil {
			return err
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		next, err := b.take(ctx, d)
		if err != nil {
			return err
		}
		if next == nil { // disconnected
			<-slots
			continue
		}
		running.Go(func() {
			defer func() { <-slots }()
			b.handle(ctx, d, next, h)
		})
	}
}

func (s *store) durable(w events.Work) *durable {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := w.Stream + " " + w.Durable
	d := s.durables[key]
	if d == nil {
		d = &durable{busy: map[string]bool{}}
		s.durables[key] = d
	}
	d.work = w
	return d
}

// take waits for the next delivery; nil means that the connection is lost.
func (b *Bus) take(ctx context.Context, d *durable) (*delivery, error) {
	lost := b.session()
	for {
		next, wait, changed := b.store.next(d)
		if next != nil {
			return next, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-lost:
			return nil, nil
		case <-b.closed:
			return nil, events.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		timer.Stop()
	}
}

// next takes a delivery out, or says how long to wait for one.
func (s *store) next(d *durable) (*delivery, time.Duration, chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[d.work.Stream]
	for _, r := range st.after(d.position, d.work.Subjects) {
		d.queue = append(d.queue, &delivery{message: r.message})
	}
	d.position = st.newest
	now, wait := time.Now(), time.Hour
	for _, next := range d.queue {
		if next.out || d.busy[next.message.Subject] {
			continue
		}
		if left := next.due.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		next.out = true
		d.busy[next.message.Subject] = true
		next.message.Deliveries++
		next.message.MaxDeliveries = d.work.MaxDeliveries
		return next, 0, s.changed
	}
	return nil, wait, s.changed
}

func (b *Bus) handle(ctx context.Context, d *durable, next *delivery, h events.Handler) {
	bounded, cancel := context.WithTimeout(ctx, d.work.AckWait)
	_, err := h(bounded, next.message)
	cancel()
	b.store.settle(d, next, err, ctx.Err() != nil)
}

func (s *store) settle(d *durable, next *delivery, err error, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next.out = false
	delete(d.busy, next.message.Subject)
	switch {
	case err != nil && ended: // nobody is told what became of it
	case events.Settle(next.message, err) == events.Retry:
		next.due = time.Now().Add(events.RetryDelay(next.message.Deliveries))
	default:
		for i, other := range d.queue {
			if other == next {
				d.queue = append(d.queue[:i:i], d.queue[i+1:]...)
				break
			}
		}
	}
	s.announce()
}
