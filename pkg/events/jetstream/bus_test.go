package jetstream_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

func timeout(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func connect(t testing.TB, o jetstream.Options) *jetstream.Bus {
	t.Helper()
	b, err := jetstream.Connect(timeout(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// connectWithStreams also creates the streams.
func connectWithStreams(t testing.TB, url string) *jetstream.Bus {
	t.Helper()
	b := connect(t, jetstream.Options{URL: url})
	if err := b.EnsureStreams(timeout(t), events.Streams()); err != nil {
		t.Fatal(err)
	}
	return b
}

// rawJetStream is for what a Bus does not do.
func rawJetStream(t testing.TB, url string) natsjs.JetStream {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := natsjs.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func TestBusConforms(t *testing.T) {
	t.Parallel()
	eventstest.Conformance(t, func(t *testing.T) eventstest.Fixture {
		server := eventstest.RunServer(t)
		other := connectWithStreams(t, server.URL())
		link := eventstest.NewLink(t, server.Addr())
		js := rawJetStream(t, server.URL())
		return eventstest.Fixture{
			Bus: connect(t, jetstream.Options{URL: link.URL()}), Other: other,
			Disconnect: link.Cut, Reconnect: link.Restore,
			Store: func(subject string, h events.Header, data []byte) {
				m := &nats.Msg{Subject: subject, Header: nats.Header(h), Data: data}
				if _, err := js.PublishMsg(timeout(t), m); err != nil {
					t.Fatal(err)
				}
			},
			Purge: func(subject string) {
				stream, err := js.Stream(timeout(t), events.StreamMetrics)
				if err != nil {
					t.Fatal(err)
				}
				if err := stream.Purge(timeout(t), natsjs.WithPurgeSubject(subject)); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}
