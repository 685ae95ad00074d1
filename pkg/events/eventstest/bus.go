package eventstest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/pkg/events"
)

// DefaultMaxPayload is how large a message a memory bus takes: 2 MiB, as
// Spokewire's NATS configurations do.
const DefaultMaxPayload = 2 << 20

// Bus is one connection to a bus in memory. It keeps what
// events.Publisher, Getter, Watcher and Worker promise, except that it
// never forgets a message id.
type Bus struct {
	store *store

	mu     sync.Mutex
	lost   chan struct{} // closed while disconnected
	online chan struct{} // closed while connected
	closed chan struct{}
}

// NewBus returns a bus with the given streams, by default events.Streams.
func NewBus(streams ...events.Stream) *Bus {
	if len(streams) == 0 {
		streams = events.Streams()
	}
	return newBus(newStore(streams))
}

func newBus(s *store) *Bus {
	b := &Bus{store: s, lost: make(chan struct{}), online: make(chan struct{}), closed: make(chan struct{})}
	close(b.online)
	return b
}

// Peer returns another connection to the same streams.
func (b *Bus) Peer() *Bus { return newBus(b.store) }

// SetNow sets the clock of ReceivedAt, of ages and of time to live, for all
// connections. Default: time.Now.
func (b *Bus) SetNow(now func() time.Time) {
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	b.store.now = now
}

// SetMaxPayload bounds headers and body of one event, in bytes.
func (b *Bus) SetMaxPayload(n int) {
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	b.store.maxPayload = n
}

// MaxPayload returns the bound of one event, in bytes.
func (b *Bus) MaxPayload() int64 {
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	return int64(b.store.maxPayload)
}

// Disconnect cuts this connection: Publish and Last wait, watches fall
// behind, work stands still.
func (b *Bus) Disconnect() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !isClosed(b.lost) {
		close(b.lost)
		b.online = make(chan struct{})
	}
}

// Reconnect undoes Disconnect.
func (b *Bus) Reconnect() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if isClosed(b.lost) {
		b.lost = make(chan struct{})
		close(b.online)
	}
}

// Close ends everything that uses this connection with events.ErrClosed.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !isClosed(b.closed) {
		close(b.closed)
	}
}

// Store puts a message on the bus as it is, whatever it holds: what a
// hostile publisher would send. It panics where no stream takes subject.
func (b *Bus) Store(subject string, h events.Header, data []byte) events.Ack {
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	s := b.store.streamOf(subject)
	if s == nil {
		panic("eventstest: no stream takes subject " + subject)
	}
	b.store.expire()
	sequence := s.append(subject, cloneHeader(h), slices.Clone(data), b.store.now())
	b.store.announce()
	return events.Ack{Stream: s.decl.Name, Sequence: sequence}
}

// Purge removes all events of subject.
func (b *Bus) Purge(subject string) {
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	if s := b.store.streamOf(subject); s != nil {
		s.removeAll(subject)
	}
}

// Messages returns what stream holds, in order.
func (b *Bus) Messages(stream string) []events.Message {
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	b.store.expire()
	var all []events.Message
	if s := b.store.streams[stream]; s != nil {
		for _, r := range s.after(0, nil) {
			all = append(all, r.message)
		}
	}
	return all
}

// Publish implements events.Publisher.
func (b *Bus) Publish(ctx context.Context, subject string, e event.Event, opts ...events.PublishOption) (events.Ack, error) {
	if err := events.CheckSubject(subject); err != nil {
		return events.Ack{}, err
	}
	header, data, err := events.Encode(e)
	if err != nil {
		return events.Ack{}, err
	}
	if err := b.wait(ctx); err != nil {
		return events.Ack{}, fmt.Errorf("publish %s: %w", subject, err)
	}
	ack, err := b.store.publish(subject, header, slices.Clone(data), events.NewPublishOptions(e, opts...))
	if err != nil {
		return events.Ack{}, fmt.Errorf("publish %s: %w", subject, err)
	}
	return ack, nil
}

// Last implements events.Getter.
func (b *Bus) Last(ctx context.Context, stream, subject string) (events.Message, error) {
	if err := b.wait(ctx); err != nil {
		return events.Message{}, fmt.Errorf("last of %s: %w", subject, err)
	}
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	b.store.expire()
	if s := b.store.streams[stream]; s != nil {
		if r := s.last(subject); r != nil {
			return r.message, nil
		}
	}
	return events.Message{}, fmt.Errorf("last of %s in %s: %w", subject, stream, events.ErrNotFound)
}

// wait returns once the bus is connected.
func (b *Bus) wait(ctx context.Context) error {
	b.mu.Lock()
	online := b.online
	b.mu.Unlock()
	select {
	case <-b.closed:
		return events.ErrClosed
	default:
	}
	select {
	case <-online:
		return ctx.Err()
	case <-b.closed:
		return events.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *Bus) session() (lost chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func cloneHeader(h events.Header) events.Header {
	h = maps.Clone(h)
	for k, v := range h {
		h[k] = slices.Clone(v)
	}
	return h
}
