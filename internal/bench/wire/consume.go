package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// How the plain consumer decodes.
const (
	// DecodeJSON unmarshals the payload with encoding/json, and checks nothing.
	DecodeJSON = "json"
	// DecodeRead reads envelope and payload as our services do, with all
	// checks.
	DecodeRead = "read"
)

// Consumed is what the plain consumer says at its end.
type Consumed struct {
	Events  int           `json:"events"`
	Samples int           `json:"samples"`
	Took    time.Duration `json:"took"`
}

// Command is the plain consumer's command line, without the users' help. It
// takes NATS_URL from the environment and prints one Consumed.
func Command() *cobra.Command {
	var first uint64
	var n int
	decode := DecodeJSON
	c := &cobra.Command{
		Use:    "consume",
		Short:  "Read metric events, decode them and do nothing else",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			done, err := Consume(c.Context(), os.Getenv("NATS_URL"), first, n, decode)
			if err != nil {
				return err
			}
			return json.NewEncoder(c.OutOrStdout()).Encode(done)
		},
	}
	c.Flags().Uint64Var(&first, "first", 1, "sequence of the first event in SW_METRICS")
	c.Flags().IntVar(&n, "events", 1, "how many to read")
	c.Flags().StringVar(&decode, "decode", decode, "json or read")
	return c
}

// Consume reads n events from the first sequence on with nats.go's ordered
// consumer and decodes each.
func Consume(ctx context.Context, url string, first uint64, n int, decode string) (Consumed, error) {
	decoder := map[string]func(jetstream.Msg) (*schemas.Metrics, error){DecodeJSON: decodeJSON, DecodeRead: decodeRead}[decode]
	if decoder == nil {
		return Consumed{}, fmt.Errorf("--decode is %q, want %s or %s", decode, DecodeJSON, DecodeRead)
	}
	nc, err := nats.Connect(url, nats.Name("bench-consumer"))
	if err != nil {
		return Consumed{}, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return Consumed{}, err
	}
	began := time.Now()
	c, err := js.OrderedConsumer(ctx, events.StreamMetrics, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: first,
	})
	if err != nil {
		return Consumed{}, err
	}
	out := Consumed{}
	done := make(chan error, 1)
	running, err := c.Consume(func(m jetstream.Msg) {
		if out.Events == n {
			return
		}
		metrics, err := decoder(m)
		if err != nil {
			trySend(done, err)
			return
		}
		out.Samples += len(metrics.Samples)
		if out.Events++; out.Events == n {
			trySend(done, nil)
		}
	}, jetstream.PullMaxMessages(1000))
	if err != nil {
		return Consumed{}, err
	}
	defer running.Stop()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(time.Minute):
		err = errors.New("the events do not come within a minute")
	}
	if err != nil {
		return Consumed{}, err
	}
	out.Took = time.Since(began)
	return out, nil
}

func trySend(to chan<- error, err error) {
	select {
	case to <- err:
	default:
	}
}

func decodeJSON(m jetstream.Msg) (*schemas.Metrics, error) {
	var metrics schemas.Metrics
	return &metrics, json.Unmarshal(m.Data(), &metrics)
}

func decodeRead(m jetstream.Msg) (*schemas.Metrics, error) {
	received, err := events.Read(events.Message{
		Stream: events.StreamMetrics, Subject: m.Subject(), Header: events.Header(m.Headers()), Data: m.Data(),
	})
	if err != nil {
		return nil, err
	}
	metrics, ok := received.Payload.(*schemas.Metrics)
	if !ok {
		return nil, fmt.Errorf("%s holds a %T", m.Subject(), received.Payload)
	}
	return metrics, nil
}
