package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// target is an endpoint whose only series counts its scrapes.
func target(t *testing.T) (url string, scrapes *atomic.Int64) {
	t.Helper()
	scrapes = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE scrapes_total counter\nscrapes_total %d\nnoise 1\n", scrapes.Add(1))
	}))
	t.Cleanup(s.Close)
	return s.URL, scrapes
}

func connect(t *testing.T, url string) *jetstream.Bus {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	bus, err := jetstream.Connect(ctx, jetstream.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	return bus
}

// unbounded are the streams with all that was ever stored, so that it can be
// counted.
func unbounded() []events.Stream {
	streams := events.Streams()
	for i := range streams {
		streams[i].PerSubject = 0
	}
	return streams
}

var errSynced = errors.New("synced")

// stored returns what a stream holds.
func stored(t *testing.T, bus *jetstream.Bus, stream string) []events.Received {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var all []events.Received
	err := bus.Watch(ctx, events.Watch{Stream: stream, Since: time.Unix(1, 0)}, func(u events.Update) error {
		switch u.Kind {
		case events.Synced:
			return errSynced
		case events.Stored:
			r, err := events.Read(u.Message)
			if err != nil {
				t.Errorf("a reader refuses an event: %v", err)
			}
			all = append(all, r)
		}
		return nil
	})
	if !errors.Is(err, errSynced) {
		t.Fatalf("watch %s: %v", stream, err)
	}
	return all
}

func options(url, target, dir string) Options {
	o := DefaultOptions()
	o.Bus.URL = url
	o.Cluster, o.Source, o.Target, o.Outbox = "spoke-1", "node", target, dir
	o.Interval = 100 * time.Millisecond
	o.Keep = []string{"scrapes_.*"}
	return o
}

// start runs a collector until the test ends.
func start(t *testing.T, o Options, rt process.Runtime) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, o, rt) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returns %v", err)
		}
	})
}

func TestCollectsWhileNATSIsAway(t *testing.T) {
	t.Parallel()
	nats := eventstest.RunServer(t)
	url := nats.URL()
	if err := connect(t, url).EnsureStreams(t.Context(), unbounded()); err != nil {
		t.Fatal(err)
	}
	nats.Stop()
	target, scrapes := target(t)
	rt := processtest.Runtime(t)
	start(t, options(url, target, t.TempDir()), rt)
	testwait.Eventually(t, "5 scrapes without NATS", func() bool { return scrapes.Load() >= 5 })
	if err := rt.Health.CheckReady(); err != nil {
		t.Errorf("a collector whose outbox works is not ready: %v", err)
	}
	nats.Start()
	bus := connect(t, url)
	testwait.Eventually(t, "the backlog is stored", func() bool { return len(stored(t, bus, events.StreamBackfill)) >= 3 })
	current := stored(t, bus, events.StreamMetrics)
	if len(current) == 0 {
		t.Fatal("nothing is current")
	}
	first := current[0]
	metrics, ok := first.Payload.(*schemas.Metrics)
	if !ok || len(metrics.Samples) != 1 || metrics.Samples[0].Name != "scrapes_total" || metrics.Samples[0].Value < 5 {
		t.Errorf("the first current snapshot is %+v", first.Payload)
	}
	if old := stored(t, bus, events.StreamBackfill)[0]; !old.Message.ReceivedAt.After(first.Message.ReceivedAt) {
		t.Error("the backlog came before the newest")
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	nats := eventstest.RunServer(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "hub", Password: "h"},
			{Username: "spoke-1", Password: "s", Permissions: &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: []string{"sw.metric.spoke-1.node", "sw.backfill.spoke-1.node"}},
				Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX_spoke-1.>"}},
			}},
		}
	})
	as := func(user string) string { return strings.Replace(nats.URL(), "nats://", "nats://"+user+"@", 1) }
	bus := connect(t, as("hub:h"))
	if err := bus.EnsureStreams(t.Context(), unbounded()); err != nil {
		t.Fatal(err)
	}
	target, _ := target(t)
	allowed := options(as("spoke-1:s"), target, t.TempDir())
	allowed.Bus.InboxPrefix = "_INBOX_spoke-1"
	denied := allowed
	denied.Cluster, denied.Outbox = "spoke-2", t.TempDir()
	start(t, allowed, processtest.Runtime(t))
	deniedRuntime := processtest.Runtime(t)
	start(t, denied, deniedRuntime)
	testwait.Eventually(t, "spoke-1 is heard, spoke-2 counts its refusals", func() bool {
		return len(stored(t, bus, events.StreamMetrics)) >= 3 && failures(t, deniedRuntime, "Denied") >= 2
	})
	for _, r := range stored(t, bus, events.StreamMetrics) {
		if r.Subject.Cluster != "spoke-1" {
			t.Errorf("%s was stored", r.Message.Subject)
		}
	}
}

func failures(t *testing.T, rt process.Runtime, reason string) float64 {
	t.Helper()
	families, err := rt.Metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if family.GetName() == "spokewire_collector_forward_failures_total" && l.GetName() == "reason" && l.GetValue() == reason {
					sum += m.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}

func TestOptions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "collector.yaml")
	if err := os.WriteFile(file, []byte("cluster: c\nsources: [{name: s, url: \"http://h/\"}]\noutbox: {dir: /d}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := options("nats://h", "http://h/metrics", "/d")
	tests := map[string]struct {
		edit func(*Options)
		want string
	}{
		"flags":             {edit: func(*Options) {}},
		"file":              {edit: func(o *Options) { *o = Options{Bus: o.Bus, BackfillRate: 1, ConfigFile: file} }},
		"both":              {edit: func(o *Options) { o.ConfigFile = file }, want: "--config and --cluster"},
		"no cluster":        {edit: func(o *Options) { o.Cluster = "" }, want: "--cluster is missing"},
		"no source":         {edit: func(o *Options) { o.Source = "" }, want: "--source is missing"},
		"no target":         {edit: func(o *Options) { o.Target = "" }, want: "--target is missing"},
		"no outbox":         {edit: func(o *Options) { o.Outbox = "" }, want: "--outbox is missing"},
		"bad target":        {edit: func(o *Options) { o.Target = "h:9100" }, want: "url"},
		"bad interval":      {edit: func(o *Options) { o.Interval = time.Nanosecond }, want: "interval is 1ns"},
		"bad keep":          {edit: func(o *Options) { o.Keep = []string{"("} }, want: `keep[0] is "("`},
		"bad backfill rate": {edit: func(o *Options) { o.BackfillRate = 0 }, want: "--backfill-rate"},
		"no NATS":           {edit: func(o *Options) { o.Bus.URL = "" }, want: "NATS_URL"},
		"no such file":      {edit: func(o *Options) { *o = Options{Bus: o.Bus, BackfillRate: 1, ConfigFile: file + ".none"} }, want: "--config"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := good
			tt.edit(&o)
			err := o.Validate()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
		})
	}
}

func TestRunNamesTheField(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "collector.yaml")
	text := "cluster: c\nsources: [{name: s, url: \"https://h/\", tls: {caFile: /none}}]\noutbox: {dir: " + dir + "/outbox}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Bus.URL, o.ConfigFile = "nats://127.0.0.1:1", file
	err := Run(t.Context(), o, processtest.Runtime(t))
	if err == nil || !strings.Contains(err.Error(), "sources[0].tls.caFile") {
		t.Errorf("error is %v", err)
	}
}
