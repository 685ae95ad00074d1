package jetstream_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// TestConnectWaits: a service may start before its server.
func TestConnectWaits(t *testing.T) {
	t.Parallel()
	srv := eventstest.RunServer(t)
	url := srv.URL()
	srv.Stop()
	connected := make(chan error, 1)
	go func() {
		bus, err := jetstream.Connect(timeout(t), jetstream.Options{URL: url})
		if err == nil {
			err = bus.EnsureStreams(timeout(t), events.Streams())
			bus.Close()
		}
		connected <- err
	}()
	srv.Start()
	if err := <-connected; err != nil {
		t.Fatal(err)
	}
}

func TestConnectGivesUp(t *testing.T) {
	t.Parallel()
	srv := eventstest.RunServer(t, func(o *server.Options) { o.Username, o.Password = "u", "right" })
	unreachable := eventstest.NewLink(t, "127.0.0.1:1").URL()
	for name, test := range map[string]struct {
		options jetstream.Options
		want    error
		says    string
	}{
		"nobody there":       {jetstream.Options{URL: strings.Replace(unreachable, "nats://", "nats://u:hush%21@", 1)}, context.DeadlineExceeded, strings.TrimPrefix(unreachable, "nats://")},
		"a closed port":      {jetstream.Options{URL: "nats://u:hush%21@127.0.0.1:1"}, context.DeadlineExceeded, "127.0.0.1:1: connect: connection refused"},
		"no such host":       {jetstream.Options{URL: "nats://u:hush%21@nowhere.invalid:4222"}, context.DeadlineExceeded, "lookup nowhere.invalid"},
		"TLS asked of none":  {jetstream.Options{URL: strings.Replace(srv.URL(), "nats://", "tls://u:hush%21@", 1)}, context.DeadlineExceeded, "secure connection not available"},
		"another scheme":     {jetstream.Options{URL: "bogus://u:hush%21@host:4222"}, events.ErrInvalidOption, `scheme "bogus", want nats://`},
		"a second bad URL":   {jetstream.Options{URL: srv.URL() + ",http://u:hush%21@host"}, events.ErrInvalidOption, `URL 2 has the scheme "http"`},
		"no host":            {jetstream.Options{URL: "nats://u:hush%21@"}, events.ErrInvalidOption, "names no server"},
		"a wrong password":   {jetstream.Options{URL: "nats://u:hush%21@" + srv.Addr()}, events.ErrDenied, "Authorization Violation"},
		"a wrong token":      {jetstream.Options{URL: "nats://hush%21@" + srv.Addr()}, events.ErrDenied, "Authorization Violation"},
		"no URL":             {jetstream.Options{}, events.ErrInvalidOption, ""},
		"a malformed URL":    {jetstream.Options{URL: "nats://u:hush%21@host:port"}, events.ErrInvalidOption, ""},
		"no credentials":     {jetstream.Options{URL: srv.URL(), Credentials: "/nowhere"}, events.ErrInvalidOption, ""},
		"too many replicas":  {jetstream.Options{URL: srv.URL(), Replicas: 9}, events.ErrInvalidOption, ""},
		"a short heartbeat":  {jetstream.Options{URL: srv.URL(), Heartbeat: 1}, events.ErrInvalidOption, ""},
		"a certificate path": {jetstream.Options{URL: srv.URL(), RootCA: "/nowhere.pem"}, events.ErrInvalidOption, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := jetstream.Connect(ctx, test.options)
			if !errors.Is(err, test.want) {
				t.Errorf("err = %v, want %v", err, test.want)
			}
			if text := err.Error(); strings.Contains(text, "hush") {
				t.Errorf("the error holds the secret: %s", text)
			} else if !strings.Contains(text, test.says) || strings.Contains(text, "no reason given") {
				t.Errorf("the error is %q, want it to hold %q", text, test.says)
			}
		})
	}
}

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestLogHoldsNoSecret(t *testing.T) {
	t.Parallel()
	srv := eventstest.RunServer(t, func(o *server.Options) { o.Username, o.Password = "u", "hush" })
	link := eventstest.NewLink(t, srv.Addr())
	var log syncBuffer
	bus := connect(t, jetstream.Options{
		URL: strings.Replace(link.URL(), "nats://", "nats://u:hush@", 1),
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	link.Cut()
	link.Restore()
	testwait.Eventually(t, "the log tells of the reconnect", func() bool { return strings.Contains(log.String(), "connected to NATS again") })
	if !bus.Connected() {
		t.Error("not connected")
	}
	if text := log.String(); strings.Contains(text, "hush") || !strings.Contains(text, "lost the connection") {
		t.Errorf("log:\n%s", text)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	bus := connectWithStreams(t, eventstest.RunServer(t).URL())
	synced, ended := make(chan struct{}), make(chan error, 2)
	go func() {
		ended <- bus.Watch(t.Context(), events.Watch{Stream: events.StreamMetrics}, func(u events.Update) error {
			if u.Kind == events.Synced {
				close(synced)
			}
			return nil
		})
	}()
	go func() {
		ended <- bus.Work(t.Context(), events.Work{Stream: events.StreamMetrics, Durable: "d"}, nil)
	}()
	<-synced
	bus.Close()
	for range 2 {
		if err := <-ended; !errors.Is(err, events.ErrClosed) {
			t.Errorf("what waited ended with %v, want ErrClosed", err)
		}
	}
	if _, err := bus.Publish(t.Context(), "sw.metric.c.s", eventstest.MetricEvent(t, "c", "s", 1)); !errors.Is(err, events.ErrClosed) {
		t.Errorf("Publish = %v, want ErrClosed", err)
	}
	if _, err := bus.Last(t.Context(), events.StreamMetrics, "sw.metric.c.s"); !errors.Is(err, events.ErrClosed) {
		t.Errorf("Last = %v, want ErrClosed", err)
	}
}

func TestMaxPayload(t *testing.T) {
	t.Parallel()
	if got := connect(t, jetstream.Options{URL: eventstest.RunServer(t).URL()}).MaxPayload(); got != eventstest.DefaultMaxPayload {
		t.Errorf("MaxPayload = %d, want %d", got, eventstest.DefaultMaxPayload)
	}
}
