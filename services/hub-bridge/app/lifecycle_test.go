package app_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/app"
)

func TestRestartWritesNothing(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.cluster(e.ns)
	for i := range 5 {
		e.applied(decision(e.placement(fmt.Sprintf("p%d", i), true), "a", "b"))
	}
	e.score(e.scored("gpu", 5, time.Minute))
	e.hubScore("gpu", holds(5))
	e.receipt(events.KindPlacement, "asked", e.request("asked", `{"numberOfClusters": 1}`), schemas.OutcomeApplied)
	e.stop()
	e.calls.take()
	before, err := e.bus.Last(t.Context(), events.StreamHub, events.HubSubject(events.KindPlacement, e.ns, "p0"))
	if err != nil {
		t.Fatal(err)
	}

	e.run()
	// What a new bridge finds in place it says once.
	for i := range 5 {
		name := fmt.Sprintf("p%d", i)
		eventually(t, "p is looked at", func() error {
			r, err := last[*schemas.Receipt](e, events.StreamReceipts, events.ReceiptSubject(events.KindPlacement, e.ns, name))
			if err == nil && r.Outcome != schemas.OutcomeUnchanged {
				return fmt.Errorf("the last receipt is %+v", *r)
			}
			return err
		})
	}
	eventually(t, "the request is looked at", func() error {
		r, err := last[*schemas.Receipt](e, events.StreamReceipts, events.ReceiptSubject(events.KindPlacement, e.ns, "asked"))
		if err == nil && r.Outcome != schemas.OutcomeUnchanged {
			return fmt.Errorf("the last receipt is %+v", *r)
		}
		return err
	})
	e.score(e.scored("marker", 5, time.Minute))
	e.hubScore("marker", holds(5))
	for _, w := range e.calls.take() {
		if !strings.Contains(w, "marker") && w != "POST /apis/cluster.open-cluster-management.io/v1alpha1/namespaces/"+e.ns+"/addonplacementscores" {
			t.Errorf("a restart wrote %s", w)
		}
	}
	after, err := e.bus.Last(t.Context(), events.StreamHub, events.HubSubject(events.KindPlacement, e.ns, "p0"))
	if err != nil || after.Sequence != before.Sequence {
		t.Errorf("a restart published what the bus knew: %d after %d (%v)", after.Sequence, before.Sequence, err)
	}
}

// While the bus is out of reach nobody knows whether a decision is still the
// last one, so none is applied; afterwards the newest is, and the one between
// never.
func TestBusOutOfReach(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	e.applied(decision(p, "a"))
	own := e.memory()
	peer := own.Peer()
	own.Disconnect()
	eventually(t, "the bridge is not ready", func() error {
		if err := e.runtime.Health.CheckReady(); err == nil {
			return errors.New("it says it is")
		}
		return nil
	})
	e.bus = peer
	e.decide(decision(p, "b"))
	sequence := e.decide(decision(p, "c"))
	e.calls.take()
	own.Reconnect()
	e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied)
	e.selects("train", "c")
	if writes := e.calls.take(); len(writes) != 1 {
		t.Errorf("it took the writes %v, want one", writes)
	}
}

// A decision that comes while the one before it is being written takes its
// place.
func TestOvertakenDecision(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	e.applied(decision(p, "a"))
	e.refuseWith(500, metav1.StatusReasonInternalError, 1000, writesTo("/train"))
	first := e.decide(decision(p, "b"))
	eventually(t, "the bridge is at it", func() error {
		if len(e.calls.take()) == 0 {
			return errors.New("no write yet")
		}
		return nil
	})
	second := e.decide(decision(p, "c"))
	e.receipt(events.KindPlacement, "train", first, schemas.OutcomeSuperseded)
	e.calls.answerWith(nil)
	e.receipt(events.KindPlacement, "train", second, schemas.OutcomeApplied)
	e.selects("train", "c")
}

// A restored store may end with a lower number than one that was applied
// before: the log's last decision wins.
func TestRestoredStore(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	e.applied(decision(p, "a"))
	e.applied(decision(p, "b"))
	e.stop()
	e.bus = eventstest.NewBus()
	sequence := e.decide(decision(p, "a"))
	e.run()
	e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied)
	e.selects("train", "a")
}

func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	e := start(t)
	second := e.options
	second.Identity = "second"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	runtime := processtest.Runtime(t)
	done := make(chan error, 1)
	go func() { done <- app.RunOn(ctx, e.bus, second, runtime) }()
	eventually(t, "the second is ready", runtime.Health.CheckReady)
	e.applied(decision(e.placement("train", true), "a"))
	e.selects("train", "a")

	e.stop() // it gives its lease up
	e.applied(decision(e.placement("next", true), "b"))
	e.selects("next", "b")
	lease, err := kubernetes.NewForConfigOrDie(theHub.Admin()).CoordinationV1().Leases(e.ns).Get(t.Context(), app.LeaseName, metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity != "second" {
		t.Errorf("the lease is %+v (%v)", lease.Spec, err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the second ended with %v", err)
	}
}

// A replica that loses its lease ends, so that what it remembers cannot
// mislead it.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	e := prepare(t)
	runtime := processtest.Runtime(t)
	done := make(chan error, 1)
	go func() { done <- app.RunOn(t.Context(), e.bus, e.options, runtime) }()
	leases := kubernetes.NewForConfigOrDie(theHub.Admin()).CoordinationV1().Leases(e.ns)
	eventually(t, "another takes the lease", func() error {
		lease, err := leases.Get(t.Context(), app.LeaseName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		thief := "thief"
		lease.Spec.HolderIdentity = &thief
		_, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
		return err
	})
	select {
	case err := <-done:
		if !errors.Is(err, app.ErrLeaseLost) {
			t.Errorf("the bridge ended with %v, want ErrLeaseLost", err)
		}
	case <-time.After(patience):
		t.Error("the bridge goes on without its lease")
	}
}

// onNATS returns a bus on a real nats-server.
func onNATS(t *testing.T) *jetstream.Bus {
	t.Helper()
	server := eventstest.RunServer(t)
	bus, err := jetstream.Connect(t.Context(), jetstream.Options{URL: server.URL(), Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	if err := bus.EnsureStreams(t.Context(), events.Streams()); err != nil {
		t.Fatal(err)
	}
	return bus
}

// With the trace of the decision carried on.
func TestOnNATS(t *testing.T) {
	t.Parallel()
	e := prepare(t)
	e.bus = onNATS(t)
	spans := tracetest.NewInMemoryExporter()
	e.tracer = sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	e.run()
	p := e.placement("train", true)
	observed[*schemas.Placement](e, events.KindPlacement, e.ns, "train", nil)

	ctx, span := e.tracer.Tracer("test").Start(t.Context(), "placement.decide")
	event, err := events.New(schemas.TypePlacementDecided, events.ServiceSource("test"), decision(p, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	events.Inject(ctx, &event)
	ack, err := e.bus.Publish(t.Context(), events.DecisionSubject(events.KindPlacement, e.ns, "train"), event)
	if err != nil {
		t.Fatal(err)
	}
	span.End()
	e.receipt(events.KindPlacement, "train", ack.Sequence, schemas.OutcomeApplied)
	e.selects("train", "a", "b")
	e.calls.take()
	e.applied(decision(p, "b", "c"))
	if writes := e.calls.take(); len(writes) != 1 {
		t.Errorf("a move took the writes %v, want one", writes)
	}
	eventually(t, "the span bridge.apply", func() error {
		for _, s := range spans.GetSpans() {
			if s.Name == "bridge.apply" && s.Parent.SpanID() == span.SpanContext().SpanID() && s.SpanContext.TraceID() == span.SpanContext().TraceID() {
				return nil
			}
		}
		return errors.New("no such span")
	})
	m, err := e.bus.Last(t.Context(), events.StreamReceipts, events.ReceiptSubject(events.KindPlacement, e.ns, "train"))
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := events.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	if !trace.SpanContextFromContext(events.Extract(t.Context(), receipt.Event)).IsValid() {
		t.Error("the receipt carries no trace")
	}

	// A tombstone on SW_HUB, and the pages' end.
	if err := e.hub.ClusterV1beta1().Placements(e.ns).Delete(t.Context(), "train", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	observed[*schemas.Deleted](e, events.KindPlacement, e.ns, "train", nil)
	if got := e.pages("train"); len(got) != 1 || !bridge.Ours(&got[0]) {
		t.Errorf("pages are %+v: absence alone deletes nothing", got)
	}
}
