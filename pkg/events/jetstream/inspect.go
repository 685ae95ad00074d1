package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
)

// ErrNoJetStream: the server has no JetStream, or this user's account may not
// use it.
var ErrNoJetStream = errors.New("no JetStream for this user")

// inspectWait bounds one request of Inspect. A request that is not permitted
// has no answer.
const inspectWait = 2 * time.Second

// Inspection is what a stream is like.
type Inspection struct {
	// Differences are those from the declaration, but for the number of
	// replicas, which is a choice of the deployment.
	Differences []string
	// Bytes are what the stream holds, MaxBytes what it may; 0 for no bound.
	Bytes, MaxBytes int64
	// Readers are those that read it just now.
	Readers []Reader
	// ServerTime was the server's time at a moment between Asked and
	// Answered, by the local clock.
	ServerTime, Asked, Answered time.Time
}

// Reader is one consumer of a stream.
type Reader struct {
	Consumer string
	// Name is that of the program, or of the consumer where it has none.
	Name string
	// Pending counts the events that it has yet to be sent.
	Pending uint64
}

// Inspect looks at a stream once. It returns ErrNoJetStream,
// events.ErrNotFound where there is no such stream, events.ErrDenied, or
// ctx's error.
func (b *Bus) Inspect(ctx context.Context, s events.Stream) (Inspection, error) {
	i := Inspection{Asked: time.Now()}
	var info *jetstream.StreamInfo
	err := b.ask(ctx, func(ctx context.Context) error {
		stream, err := b.js.Stream(ctx, s.Name)
		if err == nil {
			info = stream.CachedInfo()
		}
		return err
	})
	i.Answered = time.Now()
	if err != nil {
		return Inspection{}, fmt.Errorf("stream %s: %w", s.Name, err)
	}
	want := b.streamConfig(s)
	want.Replicas = info.Config.Replicas
	i.Differences = differences(info.Config, want)
	i.Bytes, i.MaxBytes = int64(info.State.Bytes), max(info.Config.MaxBytes, 0)
	i.ServerTime = info.TimeStamp
	err = b.ask(ctx, func(ctx context.Context) error {
		i.Readers, err = b.readers(ctx, s.Name)
		return err
	})
	if err != nil {
		return Inspection{}, fmt.Errorf("consumers of %s: %w", s.Name, err)
	}
	return i, nil
}

func (b *Bus) readers(ctx context.Context, name string) ([]Reader, error) {
	stream, err := b.js.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	list := stream.ListConsumers(ctx)
	var readers []Reader
	for info := range list.Info() {
		readers = append(readers, Reader{
			Consumer: info.Name, Name: cmp.Or(info.Config.Description, info.Name), Pending: info.NumPending,
		})
	}
	return readers, list.Err()
}

// ask makes one request, and says in our words why it has no good answer.
func (b *Bus) ask(ctx context.Context, request func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, inspectWait)
	defer cancel()
	began := time.Now()
	err := request(bounded)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return events.ErrNotFound
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w: %w", ErrNoJetStream, b.secrets.wrap(err))
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && b.deniedSince(began):
		return events.ErrDenied
	}
	return b.secrets.wrap(err)
}

// apiSubjects is how all subjects of JetStream's API begin.
const apiSubjects = "$JS."

// deniedSince reports whether the server has refused a request to
// JetStream's API.
func (b *Bus) deniedSince(began time.Time) bool {
	refusal, ok := b.denied.Load(apiSubjects)
	return ok && !refusal.(time.Time).Before(began)
}
