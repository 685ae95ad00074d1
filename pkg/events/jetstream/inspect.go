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
	// Replicas is how many servers hold it.
	Replicas int
	// Messages of Subjects subjects and Bytes are what the stream holds,
	// MaxBytes what it may; 0 for no bound.
	Messages, Subjects uint64
	Bytes, MaxBytes    int64
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
	i.Replicas, i.Messages, i.Subjects = info.Config.Replicas, info.State.Msgs, info.State.NumSubjects
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
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && b.deniedSince(apiSubjects, began) {
		return events.ErrDenied
	}
	return b.inOurWords(err)
}

const (
	// commandWait bounds one request that may take the servers of a cluster
	// some time.
	commandWait = 10 * time.Second
	refusalPoll = 20 * time.Millisecond
)

// command is ask for a request to $JS.API.STREAM.VERB.NAME. It ends as soon as
// the server refuses that.
func (b *Bus) command(ctx context.Context, verb, name string, request func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, commandWait)
	defer cancel()
	began, subject := time.Now(), b.apiPrefix()+streamCommands+verb+"."+name
	go func() {
		tick := time.NewTicker(refusalPoll)
		defer tick.Stop()
		for {
			select {
			case <-bounded.Done():
				return
			case <-tick.C:
				if b.deniedSince(subject, began) {
					cancel()
				}
			}
		}
	}()
	err := request(bounded)
	if err != nil && b.deniedSince(subject, began) {
		return events.ErrDenied
	}
	return b.inOurWords(err)
}

func (b *Bus) inOurWords(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return events.ErrNotFound
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w: %w", ErrNoJetStream, b.secrets.wrap(err))
	}
	return b.secrets.wrap(err)
}

const (
	// apiSubjects is how all subjects of JetStream's API begin.
	apiSubjects = "$JS."
	// streamCommands is how, after apiPrefix, those begin that are about one
	// stream as a whole.
	streamCommands = "STREAM."
)

// deniedSince reports whether the server has refused a request to a subject,
// or to any of JetStream's API for apiSubjects.
func (b *Bus) deniedSince(subject string, began time.Time) bool {
	refusal, ok := b.denied.Load(subject)
	return ok && !refusal.(time.Time).Before(began)
}
