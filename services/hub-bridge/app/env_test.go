package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/app"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// env is one test's bus, namespace and bridge.
type env struct {
	t       testing.TB
	bus     bus
	hub     clusterclient.Interface // as admin
	ns      string
	calls   *calls
	runtime process.Runtime
	tracer  trace.TracerProvider // set before run, or nil
	options app.Options
	stop    func()
}

// bus is what the tests and the bridge need of one.
type bus interface {
	app.Bus
}

// memory returns the bus in memory that a test runs on by default.
func (e *env) memory() *eventstest.Bus {
	b, ok := e.bus.(*eventstest.Bus)
	if !ok {
		e.t.Fatal("the test does not run on a bus in memory")
	}
	return b
}

// start runs a bridge on a namespace and a bus of its own.
func start(t testing.TB, change ...func(*app.Options)) *env {
	t.Helper()
	e := prepare(t, change...)
	e.run()
	return e
}

func prepare(t testing.TB, change ...func(*app.Options)) *env {
	t.Helper()
	config, err := grant()
	if err != nil {
		t.Fatal(err)
	}
	e := &env{t: t, bus: eventstest.NewBus(), hub: admin(), ns: "t-" + rand.String(8), calls: &calls{}}
	newNamespace(t, e.ns)
	grantLease(t, e.ns)
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return via{e.calls, next}
	})
	e.options = app.DefaultOptions()
	e.options.Config, e.options.Namespace, e.options.Identity = config, e.ns, "test"
	for _, c := range change {
		c(&e.options)
	}
	return e
}

// run starts the bridge and waits until it leads. It ends with the test, or
// with e.stop.
func (e *env) run() {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.t.Context())
	done := make(chan error, 1)
	e.runtime = processtest.Runtime(e.t)
	if e.tracer != nil {
		e.runtime.Tracer = e.tracer
	}
	go func() { done <- app.RunOn(ctx, e.bus, e.options, e.runtime) }()
	stopped := false
	e.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			e.t.Errorf("the bridge ended with %v", err)
		}
	}
	e.t.Cleanup(func() {
		e.stop()
		if len(e.calls.forbidden) > 0 {
			e.t.Errorf("the shipped roles do not allow %v", e.calls.forbidden)
		}
	})
	eventually(e.t, "the bridge is ready", func() error {
		select {
		case err := <-done:
			done <- err
			e.t.Fatalf("the bridge ended: %v", err)
		default:
		}
		return e.runtime.Health.CheckReady()
	})
}

// eventually waits until check returns nil.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	eventuallyWithin(t, patience, what, check)
}

func eventuallyWithin(t testing.TB, patience time.Duration, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s: %v", what, patience, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// retry edits the hub as a careful user does: again if somebody was faster.
func (e *env) retry(edit func() error) {
	e.t.Helper()
	if err := retry.RetryOnConflict(retry.DefaultBackoff, edit); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) cluster(name string) *clusterv1.ManagedCluster {
	e.t.Helper()
	c, err := e.hub.ClusterV1().ManagedClusters().Create(e.t.Context(), &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"region": "north"}},
	}, metav1.CreateOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		_ = e.hub.ClusterV1().ManagedClusters().Delete(context.Background(), name, metav1.DeleteOptions{})
	})
	return c
}

func (e *env) placement(name string, direct bool) *clusterv1beta1.Placement {
	e.t.Helper()
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.ns}}
	if direct {
		p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	}
	p, err := e.hub.ClusterV1beta1().Placements(e.ns).Create(e.t.Context(), p, metav1.CreateOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	return p
}

// decision is one that selects clusters for p.
func decision(p *clusterv1beta1.Placement, clusters ...string) *schemas.PlacementDecision {
	d := &schemas.PlacementDecision{
		Placement: schemas.PlacementRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Generation: p.Generation},
		Mode:      schemas.ModeDirect, Scheduler: "spokewire", Cause: "Test", Now: time.Now(),
		Clusters:   []schemas.SelectedCluster{},
		Conditions: []schemas.Condition{{Type: clusterv1beta1.PlacementConditionSatisfied, Status: "True", Reason: "AllDecisionsScheduled"}},
	}
	for _, c := range clusters {
		d.Clusters = append(d.Clusters, schemas.SelectedCluster{Name: c})
	}
	return d
}

func (e *env) publish(subject, eventType string, payload schemas.Payload, opts ...events.PublishOption) uint64 {
	e.t.Helper()
	event, err := events.New(eventType, events.ServiceSource("test"), payload)
	if err != nil {
		e.t.Fatal(err)
	}
	ack, err := e.bus.Publish(e.t.Context(), subject, event, opts...)
	if err != nil {
		e.t.Fatal(err)
	}
	return ack.Sequence
}

func (e *env) decide(d *schemas.PlacementDecision) uint64 {
	e.t.Helper()
	return e.publish(events.DecisionSubject(events.KindPlacement, d.Placement.Namespace, d.Placement.Name), schemas.TypePlacementDecided, d)
}

// last returns the payload of a subject's last event.
func last[T schemas.Payload](e *env, stream, subject string) (T, error) {
	var none T
	m, err := e.bus.Last(e.t.Context(), stream, subject)
	if err != nil {
		return none, err
	}
	received, err := events.Read(m)
	if err != nil {
		return none, err
	}
	payload, ok := received.Payload.(T)
	if !ok {
		return none, fmt.Errorf("%s holds a %T", subject, received.Payload)
	}
	return payload, nil
}

// receipt waits for the receipt of the event at sequence and returns it.
func (e *env) receipt(kind, name string, sequence uint64, outcome string) *schemas.Receipt {
	e.t.Helper()
	return e.receiptIn(kind, e.ns, name, sequence, outcome)
}

func (e *env) receiptIn(kind, namespace, name string, sequence uint64, outcome string) *schemas.Receipt {
	e.t.Helper()
	var r *schemas.Receipt
	eventually(e.t, fmt.Sprintf("receipt %s of event %d", outcome, sequence), func() (err error) {
		r, err = last[*schemas.Receipt](e, events.StreamReceipts, events.ReceiptSubject(kind, namespace, name))
		if err == nil && (r.Sequence != sequence || r.Outcome != outcome) {
			err = fmt.Errorf("the last receipt is %+v", *r)
		}
		return err
	})
	return r
}

func (e *env) applied(d *schemas.PlacementDecision) *schemas.Receipt {
	e.t.Helper()
	return e.receipt(events.KindPlacement, d.Placement.Name, e.decide(d), schemas.OutcomeApplied)
}

// pages returns the PlacementDecisions of a Placement, in order.
func (e *env) pages(placement string) []clusterv1beta1.PlacementDecision {
	e.t.Helper()
	list, err := e.hub.ClusterV1beta1().PlacementDecisions(e.ns).List(e.t.Context(), metav1.ListOptions{
		LabelSelector: clusterv1beta1.PlacementLabel + "=" + placement,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b clusterv1beta1.PlacementDecision) int {
		return bridge.PageNumber(placement, a.Name) - bridge.PageNumber(placement, b.Name)
	})
	return list.Items
}

// selected are the clusters on the hub, sorted.
func (e *env) selected(placement string) []string {
	e.t.Helper()
	names := []string{}
	for _, page := range e.pages(placement) {
		for _, d := range page.Status.Decisions {
			names = append(names, d.ClusterName)
		}
	}
	slices.Sort(names)
	return names
}

// selects waits until the hub has exactly these clusters.
func (e *env) selects(placement string, clusters ...string) {
	e.t.Helper()
	slices.Sort(clusters)
	eventually(e.t, "the hub selects "+strings.Join(clusters, ","), func() error {
		if got := e.selected(placement); !slices.Equal(got, clusters) {
			return fmt.Errorf("it selects %v", got)
		}
		return nil
	})
}
