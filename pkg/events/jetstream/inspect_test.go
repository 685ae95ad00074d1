package jetstream_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

func metricsStream() events.Stream { return events.Streams()[0] }

func TestInspect(t *testing.T) {
	t.Parallel()
	b := connect(t, jetstream.Options{URL: eventstest.RunServer(t).URL(), Name: "reader"})
	if _, err := b.Inspect(t.Context(), metricsStream()); !errors.Is(err, events.ErrNotFound) {
		t.Errorf("err = %v, want ErrNotFound before the stream is there", err)
	}
	shorter := metricsStream()
	shorter.MaxAge = time.Hour
	if err := b.EnsureStreams(t.Context(), []events.Stream{shorter}); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	err := b.Watch(t.Context(), events.Watch{Stream: events.StreamMetrics}, func(events.Update) error {
		got, err := b.Inspect(t.Context(), metricsStream())
		if err != nil {
			t.Error(err)
			return stop
		}
		if want := "MaxAge is 1h0m0s, want 24h0m0s"; strings.Join(got.Differences, "; ") != want {
			t.Errorf("differences are %q, want %q", got.Differences, want)
		}
		if len(got.Readers) != 1 || got.Readers[0].Name != "reader" || got.Readers[0].Pending != 0 {
			t.Errorf("readers are %+v, want the watch alone", got.Readers)
		}
		if got.MaxBytes != shorter.MaxBytes || got.Bytes != 0 {
			t.Errorf("%d of %d bytes, want 0 of %d", got.Bytes, got.MaxBytes, shorter.MaxBytes)
		}
		if got.ServerTime.Before(got.Asked) || got.ServerTime.After(got.Answered) {
			t.Errorf("the server's time is %v, want between %v and %v", got.ServerTime, got.Asked, got.Answered)
		}
		return stop
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
}

func TestInspectSaysWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*server.Options)
		want   error
	}{
		"no JetStream": {func(o *server.Options) { o.JetStream = false }, jetstream.ErrNoJetStream},
		"no right": {func(o *server.Options) {
			o.Users = []*server.User{{Username: "u", Password: "p", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: []string{"sw.>"}},
			}}}
		}, events.ErrDenied},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := strings.Replace(eventstest.RunServer(t, tt.change).URL(), "//", "//u:p@", 1)
			if _, err := connect(t, jetstream.Options{URL: url}).Inspect(t.Context(), metricsStream()); !errors.Is(err, tt.want) {
				t.Errorf("err = %v, want %v", err, tt.want)
			}
		})
	}
}
