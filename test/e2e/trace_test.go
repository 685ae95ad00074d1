package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/internal/spoke"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
	collector "github.com/spokewire/spokewire/services/collector/app"
	hubbridge "github.com/spokewire/spokewire/services/hub-bridge/app"
	placementwriter "github.com/spokewire/spokewire/services/placement-writer/app"
	scorer "github.com/spokewire/spokewire/services/scorer/app"
)

// TestOneTraceReachesFromTheScrapeToTheHub runs the services in this process,
// so that one exporter sees the spans of all of them.
func TestOneTraceReachesFromTheScrapeToTheHub(t *testing.T) {
	t.Parallel()
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	server := eventstest.RunServer(t)
	bus := connect(t, server.URL())
	if err := bus.EnsureStreams(t.Context(), events.Streams()); err != nil {
		t.Fatal(err)
	}
	h := hubtest.Start(t)
	if err := stack.CreateFleet(t.Context(), h.Admin(), 2); err != nil {
		t.Fatal(err)
	}
	bridgeUser, err := h.AddUser("bridge")
	if err != nil {
		t.Fatal(err)
	}
	if err := stack.GrantBridge(t.Context(), h.Admin(), "bridge"); err != nil {
		t.Fatal(err)
	}

	registry := prometheus.NewRegistry()
	work := spoke.New(registry, 8)
	target := httptest.NewServer(spoke.Handler(work, registry))
	defer target.Close()

	busOptions := process.BusOptions{URL: server.URL()}
	collect := collector.DefaultOptions()
	collect.Bus, collect.Cluster, collect.Source = busOptions, "spoke-1", "work"
	collect.Target, collect.Interval, collect.Outbox = target.URL+"/metrics", 100*time.Millisecond, t.TempDir()
	score := scorer.DefaultOptions()
	score.Bus = busOptions
	place := placementwriter.DefaultOptions()
	place.Bus = busOptions
	bridge := hubbridge.DefaultOptions()
	bridge.Bus, bridge.Config = busOptions, bridgeUser.Config

	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	run := func(name string, service func(context.Context, process.Runtime) error) {
		rt := processtest.Runtime(t)
		rt.Name, rt.Tracer = name, provider
		running.Go(func() {
			if err := service(ctx, rt); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	run("hub-bridge", func(ctx context.Context, rt process.Runtime) error { return hubbridge.Run(ctx, bridge, rt) })
	run("scorer", func(ctx context.Context, rt process.Runtime) error { return scorer.Run(ctx, score, rt) })
	run("placement-writer", func(ctx context.Context, rt process.Runtime) error { return placementwriter.Run(ctx, place, rt) })
	run("collector", func(ctx context.Context, rt process.Runtime) error { return collector.Run(ctx, collect, rt) })

	request(t, bus, events.ConfigSubject(events.KindScorer, "", "work"), schemas.TypeConfigScorer, &schemas.Scorer{
		APIVersion: schemas.ScorerAPIVersion, Kind: schemas.ScorerKind, Metadata: schemas.Metadata{Name: "work"},
		Spec: schemas.ScorerSpec{CEL: `linear(metric("spokewire_spoke_slots_free"), 0, 8)`},
	})
	request(t, bus, events.ConfigSubject(events.KindPlacement, "default", "work"), schemas.TypeConfigPlacement, &schemas.PlacementRequest{
		APIVersion: schemas.PlacementAPIVersion, Kind: schemas.PlacementKind,
		Metadata: schemas.Metadata{Name: "work", Namespace: "default", Annotations: map[string]string{"cluster.open-cluster-management.io/experimental-scheduling-disable": "true"}},
		Spec:     []byte(`{"numberOfClusters":1,"prioritizerPolicy":{"mode":"Exact","configurations":[{"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"work","scoreName":"work"}}}]}}`),
	})
	decided := events.DecisionSubject(events.KindPlacement, "default", "work")
	testwait.Within(t, 30*time.Second, func() string { return selects(t, bus, decided, "spoke-1") })

	// Work on spoke-1 makes the other one better; each hop of the move must
	// stand in the trace that the scrape began.
	request(t, bus, events.MetricSubject("spoke-2", "work"), schemas.TypeMetricsObserved,
		&schemas.Metrics{Samples: []schemas.Sample{{Name: "spokewire_spoke_slots_free", Value: 4}}})
	go work.Run(ctx, 8)
	for range 8 {
		work.Submit(10_000)
	}
	testwait.Within(t, 30*time.Second, func() string { return selects(t, bus, decided, "spoke-2") })
	testwait.Within(t, 30*time.Second, func() string { return missingHop(exporter.GetSpans()) })
}

// hops are the spans of a trace, each the child of the one before.
var hops = []string{"collector.observe", "scorer.evaluate", "placement.decide", "bridge.apply"}

// missingHop looks for a trace with every hop and says which is missing from
// the one that comes closest.
func missingHop(spans tracetest.SpanStubs) string {
	byName := map[string][]tracetest.SpanStub{}
	for _, s := range spans {
		byName[s.Name] = append(byName[s.Name], s)
	}
	reached := byName[hops[0]]
	for _, hop := range hops[1:] {
		var next []tracetest.SpanStub
		for _, child := range byName[hop] {
			for _, parent := range reached {
				if child.Parent.SpanID() == parent.SpanContext.SpanID() && child.SpanContext.TraceID() == parent.SpanContext.TraceID() {
					next = append(next, child)
				}
			}
		}
		if len(next) == 0 {
			return fmt.Sprintf("no %s continues a trace of %s; spans: %s", hop, hops[0], names(spans))
		}
		reached = next
	}
	return ""
}

func names(spans tracetest.SpanStubs) string {
	count := map[string]int{}
	for _, s := range spans {
		count[s.Name]++
	}
	return fmt.Sprint(count)
}

// request publishes an event as a user does.
func request(t *testing.T, bus events.Publisher, subject, eventType string, p schemas.Payload) {
	t.Helper()
	source := "/users/test"
	if s, err := events.ParseSubject(subject); err == nil && s.Family == events.FamilyMetric {
		source = events.ClusterSource(s.Cluster, s.Name)
	}
	e, err := events.New(eventType, source, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bus.Publish(t.Context(), subject, e); err != nil {
		t.Fatal(err)
	}
}

// selects says how the last decision of subject differs from one that
// selects just cluster.
func selects(t *testing.T, bus events.Getter, subject, cluster string) string {
	t.Helper()
	m, err := bus.Last(t.Context(), events.StreamDecisions, subject)
	if err != nil {
		return err.Error()
	}
	r, err := events.Read(m)
	if err != nil {
		return err.Error()
	}
	d, ok := r.Payload.(*schemas.PlacementDecision)
	if !ok || len(d.Clusters) != 1 || d.Clusters[0].Name != cluster {
		return fmt.Sprintf("the last decision is %s, want %s", m.Data, cluster)
	}
	return ""
}
