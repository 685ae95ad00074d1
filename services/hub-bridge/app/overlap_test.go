package app_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/hub"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// worksAPI gives the shared hub OCM's works.
var worksAPI = sync.OnceValue(func() error {
	return hub.InstallDefinitions(context.Background(), theHub.Admin(), filepath.Join(hubtest.BinDir(), "crds-ocm", "hub"))
})

// moving is Placement p that has just moved from cluster a to others, on which
// an overlap of an hour holds.
type moving struct {
	*env
	p     *clusterv1beta1.Placement
	a     string
	to    []string
	works workclient.Interface
}

func startMoving(t *testing.T, clusters int) *moving {
	t.Helper()
	if err := worksAPI(); err != nil {
		t.Fatal(err)
	}
	e := start(t)
	m := &moving{env: e, a: e.ns + "-a", works: workclient.NewForConfigOrDie(theHub.Admin())}
	for i := range clusters {
		m.to = append(m.to, fmt.Sprintf("%s-b%d", e.ns, i))
	}
	for _, name := range append(m.to, m.a) {
		e.cluster(name)
		newNamespace(t, name)
	}
	m.p = e.overlapping("1h")
	e.applied(decision(m.p, m.a))
	m.work(m.a)
	m.moves(m.to...)
	return m
}

// moves decides for other clusters and waits until the hub has them too.
func (m *moving) moves(to ...string) {
	m.t.Helper()
	r := m.applied(decision(m.p, to...))
	if r.Reason != bridge.ReasonOverlap || !strings.Contains(r.Message, m.a) {
		m.t.Errorf("the receipt is %+v, want reason %s and the name of %s", *r, bridge.ReasonOverlap, m.a)
	}
	if got := m.selected("p"); !slices.Contains(got, m.a) || !slices.Contains(got, to[0]) {
		m.t.Errorf("the hub selects %v, want %s and %v too", got, m.a, to)
	}
	m.to = to
}

// overlapping creates a direct Placement p with that overlap.
func (e *env) overlapping(overlap string) *clusterv1beta1.Placement {
	e.t.Helper()
	p := e.placement("p", true)
	p.Annotations[placement.AnnotationOverlap] = overlap
	p, err := e.hub.ClusterV1beta1().Placements(e.ns).Update(e.t.Context(), p, metav1.UpdateOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	return p
}

// work creates what a ManifestWorkReplicaSet would on a cluster.
func (m *moving) work(cluster string) {
	m.t.Helper()
	w := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: cluster, Labels: map[string]string{
		workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey: m.ns + ".w",
		workv1alpha1.ManifestWorkReplicaSetPlacementNameLabelKey:  "p",
	}}}
	if _, err := m.works.WorkV1().ManifestWorks(cluster).Create(m.t.Context(), w, metav1.CreateOptions{}); err != nil {
		m.t.Fatal(err)
	}
}

// arrives is what the agents of the clusters say once all is there.
func (m *moving) arrives() {
	m.t.Helper()
	for _, cluster := range m.to {
		m.work(cluster)
		w, err := m.works.WorkV1().ManifestWorks(cluster).Get(m.t.Context(), "w", metav1.GetOptions{})
		if err != nil {
			m.t.Fatal(err)
		}
		for _, condition := range []string{workv1.WorkApplied, workv1.WorkAvailable} {
			meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: condition, Status: "True", Reason: "Test", ObservedGeneration: w.Generation})
		}
		if got := m.selected("p"); !slices.Contains(got, m.a) {
			m.t.Errorf("the hub selects %v before the work has arrived, want %s there still", got, m.a)
		}
		if _, err := m.works.WorkV1().ManifestWorks(cluster).UpdateStatus(m.t.Context(), w, metav1.UpdateOptions{}); err != nil {
			m.t.Fatal(err)
		}
	}
}

// edit changes the Placement on the hub.
func (m *moving) edit(change func(*clusterv1beta1.Placement)) {
	m.t.Helper()
	m.retry(func() error {
		p := m.get("p")
		change(p)
		_, err := m.hub.ClusterV1beta1().Placements(m.ns).Update(m.t.Context(), p, metav1.UpdateOptions{})
		return err
	})
}

// isOver waits until a receipt says why nothing overlaps any more.
func (e *env) isOver(reason string) *schemas.Receipt {
	e.t.Helper()
	var r *schemas.Receipt
	eventually(e.t, "the receipt says "+reason, func() (err error) {
		r, err = last[*schemas.Receipt](e, events.StreamReceipts, events.ReceiptSubject(events.KindPlacement, e.ns, "p"))
		if err == nil && (r.Reason != reason || r.Outcome != schemas.OutcomeApplied) {
			err = fmt.Errorf("the last receipt is %+v", *r)
		}
		return err
	})
	return r
}

func TestAMoveOverlapsUntil(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		clusters int
		end      func(*testing.T, *moving)
		reason   string
	}{
		"the work has arrived":         {1, func(_ *testing.T, m *moving) { m.arrives() }, bridge.ReasonOverlapOver},
		"the work has arrived on many": {10, func(_ *testing.T, m *moving) { m.arrives() }, bridge.ReasonOverlapOver},
		"the work has arrived, by a bridge that was started again": {1, func(_ *testing.T, m *moving) {
			m.stop()
			m.run()
			m.arrives()
		}, bridge.ReasonOverlapOver},
		"the work has arrived where the decision went on to": {1, func(_ *testing.T, m *moving) {
			m.moves(m.ns + "-b1")
			m.selects("p", m.a, m.ns+"-b0", m.ns+"-b1")
			newNamespace(m.t, m.to[0])
			m.cluster(m.to[0])
			m.arrives()
		}, bridge.ReasonOverlapOver},
		"the cluster is deleted": {1, func(t *testing.T, m *moving) {
			if err := m.hub.ClusterV1().ManagedClusters().Delete(t.Context(), m.a, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}, bridge.ReasonOverlapOver},
		"nobody wants it any more": {1, func(_ *testing.T, m *moving) {
			m.edit(func(p *clusterv1beta1.Placement) { delete(p.Annotations, placement.AnnotationOverlap) })
		}, bridge.ReasonOverlapOver},
		"it is wanted for a shorter time": {1, func(_ *testing.T, m *moving) {
			m.edit(func(p *clusterv1beta1.Placement) { p.Annotations[placement.AnnotationOverlap] = "1ms" })
		}, bridge.ReasonOverlapExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := startMoving(t, c.clusters)
			p := m.get("p")
			want := int32(c.clusters + 1) //nolint:gosec // a few
			if n := p.Status.NumberOfSelectedClusters; n != want || p.Status.DecisionGroups[0].ClustersCount != want {
				t.Errorf("the status counts %d clusters while %d are on the pages: %+v", n, want, p.Status.DecisionGroups)
			}
			c.end(t, m)
			m.selects("p", m.to...)
			m.isOver(c.reason)
			if n := m.get("p").Status.NumberOfSelectedClusters; n != want-1 {
				t.Errorf("the status counts %d clusters in the end", n)
			}
		})
	}
}

// A decision that goes back has nobody wait: all is where it was.
func TestAMoveThatGoesBackIsOver(t *testing.T) {
	t.Parallel()
	m := startMoving(t, 1)
	r := m.applied(decision(m.p, m.a))
	if got := m.selected("p"); !slices.Equal(got, []string{m.a}) || r.Reason != "" {
		t.Errorf("the hub selects %v (%+v) when the receipt comes, want %s alone", got, *r, m.a)
	}
}

// What an overlap leaves on the hub is OCM's once OCM decides.
func TestAnOverlapIsLeftToOCM(t *testing.T) {
	t.Parallel()
	m := startMoving(t, 1)
	m.edit(func(p *clusterv1beta1.Placement) { delete(p.Annotations, clusterv1beta1.PlacementDisableAnnotation) })
	eventually(t, "the page is released", func() error {
		if page := m.pages("p")[0]; bridge.Ours(&page) {
			return fmt.Errorf("its labels are %v", page.Labels)
		}
		return nil
	})
	m.arrives() // which nobody waits for any more
	m.selects("p", append(m.to, m.a)...)
}

// Where nothing says that the workload has arrived, the time is what counts.
func TestAMoveOverlapsForItsTimeAtMost(t *testing.T) {
	t.Parallel()
	const overlap = 2 * time.Second
	for name, c := range map[string]struct {
		status int // of lists of works; 0: what the API server says
		works  bool
	}{
		"there are no works": {}, "it does not arrive": {works: true},
		"the hub has no works": {status: http.StatusNotFound}, "it may not list them": {status: http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := worksAPI(); err != nil {
				t.Fatal(err)
			}
			m := &moving{env: start(t), works: workclient.NewForConfigOrDie(theHub.Admin())}
			m.a = m.ns + "-a"
			m.cluster(m.a)
			if c.works {
				newNamespace(t, m.a)
				m.work(m.a)
			}
			m.calls.answerWith(func(r *http.Request) *http.Response {
				if c.status == 0 || !strings.HasSuffix(r.URL.Path, "/manifestworks") {
					return nil
				}
				return &http.Response{StatusCode: c.status, Body: http.NoBody, Header: http.Header{}, Request: r}
			})
			m.p = m.overlapping(overlap.String())
			m.applied(decision(m.p, m.a))
			asked := time.Now()
			m.moves(m.ns + "-b")
			m.selects("p", m.to...)
			if took := time.Since(asked); took < overlap {
				t.Errorf("it took %s, want at least %s", took, overlap)
			}
			if r := m.isOver(bridge.ReasonOverlapExpired); !strings.Contains(r.Message, m.a) {
				t.Errorf("the receipt is %+v, want the name of %s", *r, m.a)
			}
		})
	}
}

// A decision that cannot be carried out leaves a move where it is, and nobody
// looks after it. The next one begins anew: who leaves by it waits for those
// that it has arrive, however long the bad one stood.
func TestABadDecisionInTheMiddleOfAMove(t *testing.T) {
	t.Parallel()
	const overlap = 2 * time.Second
	for name, spoil := range map[string]func(*moving){
		"contradicts itself": func(m *moving) {
			odd := decision(m.p, m.to...)
			odd.Clusters[0].Group = 3
			m.receipt(events.KindPlacement, "p", m.decide(odd), schemas.OutcomeRefused)
		},
		"cannot be read": func(m *moving) {
			e, err := events.New(schemas.TypePlacementDecided, events.ServiceSource("test"), decision(m.p, m.to...))
			if err != nil {
				m.t.Fatal(err)
			}
			e.DataEncoded = []byte("{")
			ack, err := m.bus.Publish(m.t.Context(), events.DecisionSubject(events.KindPlacement, m.ns, "p"), e)
			if err != nil {
				m.t.Fatal(err)
			}
			eventually(m.t, "a dead letter", func() error {
				_, err := last[*schemas.DeadLetter](m.env, events.StreamDead, events.DeadSubject("hub-bridge", events.StreamDecisions, ack.Sequence))
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &moving{env: start(t)}
			m.a = m.ns + "-a"
			m.cluster(m.a)
			m.p = m.overlapping(overlap.String())
			m.applied(decision(m.p, m.a))
			began := time.Now()
			m.moves(m.ns + "-b")
			spoil(m)
			eventually(t, "the bad decision stands for longer than the overlap", func() error {
				if stood := time.Since(began); stood < overlap+overlap/2 {
					return fmt.Errorf("it stood for %s", stood)
				}
				return nil
			})
			m.selects("p", m.a, m.ns+"-b")
			m.moves(m.ns + "-c")
			m.selects("p", m.to...)
			m.isOver(bridge.ReasonOverlapExpired)
		})
	}
}

// The time is that of both being there: a hub that takes no writes for longer
// than that ends no overlap.
func TestTheTimeOfAnOverlapRunsWhileBothAreThere(t *testing.T) {
	t.Parallel()
	const overlap = 2 * time.Second
	e := start(t)
	a, b := e.ns+"-a", e.ns+"-b"
	e.cluster(a)
	p := e.overlapping(overlap.String())
	e.applied(decision(p, a))
	var tries atomic.Int32
	e.calls.answerWith(func(r *http.Request) *http.Response {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/placementdecisions/p-decision-1/status") {
			return nil
		}
		tries.Add(1)
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody, Header: http.Header{}, Request: r}
	})
	began := time.Now()
	e.decide(decision(p, b))
	eventually(t, "the hub takes no write for longer than the overlap", func() error {
		if n := tries.Load(); n == 0 || time.Since(began) < overlap+overlap/2 {
			return fmt.Errorf("%d tries", n)
		}
		return nil
	})
	taken := time.Now()
	e.calls.answerWith(nil)
	e.selects("p", a, b)
	e.selects("p", b)
	if both := time.Since(taken); both < overlap {
		t.Errorf("both were there for %s, want at least %s", both, overlap)
	}
}

// A Placement that does not ask for an overlap does not pay for it.
func TestWithoutOverlapNobodyAsksForWorks(t *testing.T) {
	t.Parallel()
	e := start(t)
	var asked atomic.Int32
	e.calls.answerWith(func(r *http.Request) *http.Response {
		if strings.HasSuffix(r.URL.Path, "/manifestworks") {
			asked.Add(1)
		}
		return nil
	})
	p := e.placement("p", true)
	e.applied(decision(p, "a", "b"))
	r := e.applied(decision(p, "b", "c"))
	if got := e.selected("p"); !slices.Equal(got, []string{"b", "c"}) || r.Reason != "" {
		t.Errorf("the hub selects %v (%+v) when the receipt comes, want b and c", got, *r)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the bridge listed works %d times", n)
	}
}
