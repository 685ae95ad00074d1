package app

import (
	"crypto/rand"
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

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// layoutServer runs a NATS server with the accounts and permissions of a
// layout.
func layoutServer(t *testing.T, l access.Layout) (url string, passwords access.Passwords) {
	t.Helper()
	l.Server = access.DefaultServer("127.0.0.1:-1", t.TempDir())
	passwords, secrets, err := access.Issue(l, rand.Text)
	if err != nil {
		t.Fatal(err)
	}
	text, err := access.Config(l, secrets)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o.NoSigs = true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	return s.ClientURL(), passwords
}

func as(t *testing.T, url string, passwords access.Passwords, user string) string {
	t.Helper()
	url, err := passwords.URL(url, user)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// A collector beside the hub speaks for the clusters that NATS permits it,
// and for no other, whatever its configuration says.
func TestFleet(t *testing.T) {
	t.Parallel()
	url, passwords := layoutServer(t, access.Layout{Collectors: []access.Collector{{Name: "energy", Metrics: []access.Grant{
		{Cluster: "a", Sources: []string{"energy"}}, {Cluster: "b.eu", Sources: []string{"energy"}},
	}}}})
	connectAs := func(user, inbox string) *jetstream.Bus {
		bus, err := jetstream.Connect(t.Context(), jetstream.Options{URL: as(t, url, passwords, user), InboxPrefix: access.InboxPrefix(inbox)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(bus.Close)
		return bus
	}
	if err := connectAs(access.Admin, access.Admin).EnsureStreams(t.Context(), unbounded()); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	prices := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		n := asked.Add(1)
		fmt.Fprintf(w, `[{"cluster":"a","price":%d},{"cluster":"b.eu","price":2},{"cluster":"c","price":3},{"cluster":"elsewhere","price":4}]`, n)
	}))
	t.Cleanup(prices.Close)
	o := DefaultOptions()
	o.Bus.URL, o.Bus.InboxPrefix = as(t, url, passwords, access.CollectorUser("energy")), access.InboxPrefix("collector-energy")
	o.ConfigFile = filepath.Join(t.TempDir(), "collector.yaml")
	text := fmt.Sprintf(`
sources:
  - name: energy
    interval: 100ms
    clusterLabel: cluster
    clusters: [a, b.eu, c]      # but NATS does not permit c
    json:
      url: %s
      metrics: [{name: energy_price, items: body, value: item.price, labels: {cluster: item.cluster}}]
outbox: {dir: %s}
`, prices.URL, t.TempDir())
	if err := os.WriteFile(o.ConfigFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rt := processtest.Runtime(t)
	start(t, o, rt)
	operator := connectAs(access.Operator, access.Operator)
	testwait.Eventually(t, "both clusters have prices, and c is refused", func() bool {
		return len(stored(t, operator, events.StreamMetrics)) >= 6 && failures(t, rt, "Denied") >= 1
	})
	for _, r := range stored(t, operator, events.StreamMetrics) {
		m, ok := r.Payload.(*schemas.Metrics)
		if !ok || len(m.Samples) != 1 || len(m.Samples[0].Labels) > 0 {
			t.Fatalf("%s holds %+v", r.Message.Subject, r.Payload)
		}
		if value := m.Samples[0].Value; r.Subject.Cluster != "a" && (r.Subject.Cluster != "b.eu" || value != 2) {
			t.Errorf("%s holds %v", r.Message.Subject, value)
		}
	}
	if status := rt.Health.Details()["source energy"]; !strings.Contains(status, "UnknownCluster") || !strings.Contains(status, "elsewhere") {
		t.Errorf("the status is %q", status)
	}
}
