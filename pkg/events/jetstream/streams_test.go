package jetstream_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

func TestEnsureStreams(t *testing.T) {
	t.Parallel()
	srv := eventstest.RunServer(t)
	var running sync.WaitGroup
	for range 4 { // services that start at the same time
		running.Go(func() {
			bus := connect(t, jetstream.Options{URL: srv.URL()})
			if err := bus.EnsureStreams(timeout(t), events.Streams()); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	js := rawJetStream(t, srv.URL())
	for _, want := range events.Streams() {
		stream, err := js.Stream(timeout(t), want.Name)
		if err != nil {
			t.Fatal(err)
		}
		c := stream.CachedInfo().Config
		if c.AllowRollup == want.Ingest || c.AllowMsgTTL == want.Ingest || c.AllowDirect == want.Ingest {
			t.Errorf("%s: rollup %v, TTL %v, direct gets %v; ingest is %v", want.Name, c.AllowRollup, c.AllowMsgTTL, c.AllowDirect, want.Ingest)
		}
		if c.Duplicates != events.DedupeWindow || c.MaxConsumers <= 1000 || c.Storage != natsjs.FileStorage {
			t.Errorf("%s: %+v", want.Name, c)
		}
		if (c.Discard == natsjs.DiscardNew) != want.RefuseWhenFull {
			t.Errorf("%s: discards %v", want.Name, c.Discard)
		}
	}
}

func TestEnsureStreamsLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	srv := eventstest.RunServer(t)
	js := rawJetStream(t, srv.URL())
	existing := natsjs.StreamConfig{
		Name: events.StreamMetrics, Subjects: []string{"sw.metric.*.*"}, MaxMsgsPerSubject: 64, MaxBytes: 4096 << 20,
		MaxAge: time.Hour, Duplicates: events.DedupeWindow, MaxConsumers: 100_000, AllowDirect: true,
	}
	if _, err := js.CreateStream(timeout(t), existing); err != nil {
		t.Fatal(err)
	}
	bus := connect(t, jetstream.Options{URL: srv.URL()})
	err := bus.EnsureStreams(timeout(t), events.Streams())
	var differs *jetstream.StreamDiffers
	if !errors.Is(err, jetstream.ErrStreamDiffers) || !errors.As(err, &differs) {
		t.Fatalf("err = %v, want ErrStreamDiffers", err)
	}
	want := []string{"MaxAge is 1h0m0s, want 24h0m0s", "AllowDirect is true, want false"}
	if differs.Stream != events.StreamMetrics || !slices.Equal(differs.Differences, want) {
		t.Errorf("%s differs by %q, want %q", differs.Stream, differs.Differences, want)
	}
	stream, err := js.Stream(timeout(t), events.StreamMetrics)
	if err != nil || stream.CachedInfo().Config.MaxAge != time.Hour {
		t.Errorf("the stream was altered: %v, %v", stream.CachedInfo().Config.MaxAge, err)
	}
	if _, err := js.Stream(timeout(t), events.StreamDead); err != nil {
		t.Errorf("the others were not created: %v", err)
	}
}

func TestEnsureStreamSaysWhatItDid(t *testing.T) {
	t.Parallel()
	bus := connect(t, jetstream.Options{URL: eventstest.RunServer(t).URL()})
	for _, want := range []bool{true, false} {
		if created, err := bus.EnsureStream(timeout(t), metricsStream()); err != nil || created != want {
			t.Errorf("created %v, %v, want %v", created, err, want)
		}
	}
}

// A refusal is known as soon as the server says it.
func TestEnsureStreamIsRefused(t *testing.T) {
	t.Parallel()
	for name, denied := range map[string]string{"to look": "$JS.API.STREAM.INFO.>", "to create": "$JS.API.STREAM.CREATE.>"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := eventstest.RunServer(t, func(o *server.Options) {
				o.Users = []*server.User{{Username: "user", Password: "secret", Permissions: &server.Permissions{
					Publish: &server.SubjectPermission{Allow: []string{">"}, Deny: []string{denied}},
				}}}
			})
			bus := connect(t, jetstream.Options{URL: strings.Replace(srv.URL(), "//", "//user:secret@", 1)})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if created, err := bus.EnsureStream(ctx, metricsStream()); created || !errors.Is(err, events.ErrDenied) || ctx.Err() != nil {
				t.Errorf("created %v, %v, want ErrDenied", created, err)
			}
		})
	}
}

// Who does not say how many servers are to hold a stream takes any number.
func TestReplicasAreAChoiceOfTheDeployment(t *testing.T) {
	t.Parallel()
	url := runCluster(t)
	three := connect(t, jetstream.Options{URL: url, Replicas: 3})
	testwait.Within(t, time.Minute, func() string { // until the servers have elected a leader
		if _, err := three.EnsureStream(timeout(t), metricsStream()); err != nil {
			return err.Error()
		}
		return ""
	})
	if created, err := connect(t, jetstream.Options{URL: url}).EnsureStream(timeout(t), metricsStream()); created || err != nil {
		t.Errorf("created %v, %v, want that it is taken as it is", created, err)
	}
	_, err := connect(t, jetstream.Options{URL: url, Replicas: 1}).EnsureStream(timeout(t), metricsStream())
	var differs *jetstream.StreamDiffers
	if !errors.As(err, &differs) || !slices.Equal(differs.Differences, []string{"Replicas is 3, want 1"}) {
		t.Errorf("err = %v, want that the number of replicas differs", err)
	}
	i, err := three.Inspect(timeout(t), metricsStream())
	if err != nil || i.Replicas != 3 || len(i.Differences) > 0 {
		t.Errorf("got %+v, %v, want 3 replicas and no difference", i, err)
	}
}

// runCluster runs three servers and returns the URL of one.
func runCluster(t *testing.T) string {
	t.Helper()
	var routes []*url.URL
	for range 3 {
		address, err := child.FreeAddress(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		routes = append(routes, &url.URL{Scheme: "nats", Host: address})
	}
	var first string
	for i, route := range routes {
		port, err := strconv.Atoi(route.Port())
		if err != nil {
			t.Fatal(err)
		}
		s := eventstest.RunServer(t, func(o *server.Options) {
			o.ServerName = "server-" + strconv.Itoa(i)
			o.Cluster = server.ClusterOpts{Name: "three", Host: route.Hostname(), Port: port}
			o.Routes = routes
		})
		if i == 0 {
			first = s.URL()
		}
	}
	return first
}
