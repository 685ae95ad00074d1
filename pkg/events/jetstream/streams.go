package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
)

// ErrStreamDiffers: a stream exists with other settings than declared.
var ErrStreamDiffers = errors.New("the stream exists with other settings")

// StreamDiffers says how an existing stream differs from its declaration.
// errors.Is finds ErrStreamDiffers in it.
type StreamDiffers struct {
	Stream      string
	Differences []string // for instance "MaxAge is 1h0m0s, want 24h0m0s"
}

func (e *StreamDiffers) Error() string {
	return fmt.Sprintf("stream %s: %v, it was left as it is: %s", e.Stream, ErrStreamDiffers, strings.Join(e.Differences, "; "))
}

// Unwrap returns ErrStreamDiffers.
func (e *StreamDiffers) Unwrap() error { return ErrStreamDiffers }

// maxConsumers is how many readers a stream may have. The server's default
// is 1000.
const maxConsumers = 100_000

// EnsureStreams creates the streams that are missing. It never alters or
// deletes one: where a stream exists with other settings, the error wraps a
// *StreamDiffers for each, and all others were seen to all the same. It
// retries nothing but what comes of two services starting at once.
func (b *Bus) EnsureStreams(ctx context.Context, streams []events.Stream) error {
	var errs []error
	for _, s := range streams {
		if _, err := b.EnsureStream(ctx, s); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// EnsureStream does for one stream what EnsureStreams does, and reports
// whether it created it. It returns a *StreamDiffers, ErrNoJetStream,
// events.ErrDenied, or what the server says.
func (b *Bus) EnsureStream(ctx context.Context, s events.Stream) (created bool, err error) {
	return b.ensureStream(ctx, b.streamConfig(s))
}

func (b *Bus) ensureStream(ctx context.Context, want jetstream.StreamConfig) (created bool, err error) {
	have, err := b.configOf(ctx, want.Name)
	if errors.Is(err, events.ErrNotFound) {
		err = b.command(ctx, "CREATE", want.Name, func(ctx context.Context) error {
			_, err := b.js.CreateStream(ctx, want)
			return err
		})
		if err == nil {
			return true, nil
		}
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another was faster
			have, err = b.configOf(ctx, want.Name)
		}
	}
	if err != nil {
		return false, fmt.Errorf("stream %s: %w", want.Name, err)
	}
	if b.options.Replicas == 0 {
		want.Replicas = have.Replicas
	}
	if d := differences(have, want); len(d) > 0 {
		return false, &StreamDiffers{Stream: want.Name, Differences: d}
	}
	return false, nil
}

func (b *Bus) configOf(ctx context.Context, name string) (c jetstream.StreamConfig, err error) {
	err = b.command(ctx, "INFO", name, func(ctx context.Context) error {
		stream, err := b.js.Stream(ctx, name)
		if err == nil {
			c = stream.CachedInfo().Config
		}
		return err
	})
	return c, err
}

func (b *Bus) streamConfig(s events.Stream) jetstream.StreamConfig {
	c := jetstream.StreamConfig{
		Name: s.Name, Description: s.Description, Subjects: s.Subjects,
		Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy,
		MaxMsgs: -1, MaxMsgSize: -1, MaxConsumers: maxConsumers,
		MaxMsgsPerSubject: orUnlimited(s.PerSubject), MaxBytes: orUnlimited(s.MaxBytes), MaxAge: s.MaxAge,
		Duplicates: events.DedupeWindow, Replicas: max(1, b.options.Replicas),
		AllowDirect: !s.Ingest, AllowRollup: !s.Ingest, AllowMsgTTL: !s.Ingest,
	}
	if s.RefuseWhenFull {
		c.Discard = jetstream.DiscardNew
	}
	return c
}

func orUnlimited(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}

// differences compares what matters to those who use the stream.
func differences(have, want jetstream.StreamConfig) []string {
	var all []string
	differ := func(field string, have, want any) {
		if have != want {
			all = append(all, fmt.Sprintf("%s is %v, want %v", field, have, want))
		}
	}
	differ("Subjects", sorted(have.Subjects), sorted(want.Subjects))
	differ("Storage", have.Storage, want.Storage)
	differ("Retention", have.Retention, want.Retention)
	differ("Discard", have.Discard, want.Discard)
	differ("MaxMsgs", have.MaxMsgs, want.MaxMsgs)
	differ("MaxMsgSize", have.MaxMsgSize, want.MaxMsgSize)
	differ("MaxMsgsPerSubject", have.MaxMsgsPerSubject, want.MaxMsgsPerSubject)
	differ("MaxBytes", have.MaxBytes, want.MaxBytes)
	differ("MaxAge", have.MaxAge, want.MaxAge)
	differ("MaxConsumers", have.MaxConsumers, want.MaxConsumers)
	differ("Duplicates", have.Duplicates, want.Duplicates)
	differ("Replicas", have.Replicas, want.Replicas)
	differ("AllowDirect", have.AllowDirect, want.AllowDirect)
	differ("AllowRollup", have.AllowRollup, want.AllowRollup)
	differ("AllowMsgTTL", have.AllowMsgTTL, want.AllowMsgTTL)
	differ("NoAck", have.NoAck, want.NoAck)
	differ("Sealed", have.Sealed, want.Sealed)
	differ("Mirror", mirrorOf(have), mirrorOf(want))
	differ("a copy of other streams", len(have.Sources) > 0, false)
	differ("a subject transform", have.SubjectTransform != nil, false)
	return all
}

func sorted(subjects []string) string {
	return strings.Join(slices.Sorted(slices.Values(subjects)), " ")
}
