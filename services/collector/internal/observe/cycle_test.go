package observe

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/services/collector/internal/config"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
	"github.com/spokewire/spokewire/services/collector/internal/scrape"
)

// BenchmarkCycle1000 is all that a collector does for one snapshot of 1,000
// kept series: scrape, select, store, take out, publish, forget.
func BenchmarkCycle1000(b *testing.B) {
	var body strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&body, "node_value_%d{namespace=\"default\",pod=\"pod-%d\",node=\"node-1\"} %d.5\n", i%100, i, i)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, body.String())
	}))
	b.Cleanup(server.Close)
	c := config.Source{Name: "node", URL: server.URL, Keep: []string{"node_.*"}, Format: config.FormatText}
	c.Default()
	target, err := scrape.New(c)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(target.Close)
	store, err := outbox.Open(b.TempDir(), outbox.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	source := outbox.Source{Cluster: "c", Name: "node"}
	s := New(Options{
		Source: source, Interval: config.DefaultInterval, Scraper: target, Outbox: store, Metrics: NewMetrics(prometheus.NewRegistry()),
		Tracer: noop.NewTracerProvider().Tracer(""), Log: slog.New(slog.DiscardHandler),
	})
	bus, subject := eventstest.NewBus(), events.MetricSubject("c", "node")
	b.ReportAllocs()
	for b.Loop() {
		if err := s.observe(b.Context()); err != nil {
			b.Fatal(err)
		}
		snapshot, _ := store.TakeNewest(source)
		if _, err := bus.Publish(b.Context(), subject, snapshot.Event, events.WithMessageID(snapshot.MessageID)); err != nil {
			b.Fatal(err)
		}
		if err := store.Done(snapshot); err != nil {
			b.Fatal(err)
		}
	}
}
