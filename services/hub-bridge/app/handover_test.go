package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// takenAway are the ways in which a Placement ceases to be Spokewire's.
func takenAway() map[string]func(*clusterv1beta1.Placement) {
	return map[string]func(*clusterv1beta1.Placement){
		"native": func(p *clusterv1beta1.Placement) { delete(p.Annotations, clusterv1beta1.PlacementDisableAnnotation) },
		"shadow": func(p *clusterv1beta1.Placement) { p.Annotations[schemas.AnnotationMode] = schemas.ModeShadow },
	}
}

// The Placement goes over to somebody else while the second of three pages is
// on its way: the third is not written, and nothing else.
func TestStopsInTheMiddleOfAnApply(t *testing.T) {
	t.Parallel()
	for name, take := range takenAway() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			p := e.placement("train", true)
			var before, after []string
			for i := range 250 {
				cluster := fmt.Sprintf("c%03d", i)
				before = append(before, cluster)
				if i%100 != 0 { // each page loses one
					after = append(after, cluster)
				}
			}
			e.applied(decision(p, before...))
			reached, held := make(chan struct{}), make(chan struct{})
			var once sync.Once
			e.calls.answerWith(func(r *http.Request) *http.Response {
				if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/train-decision-2/status") {
					once.Do(func() { close(reached); <-held })
				}
				return nil
			})
			e.calls.take()
			sequence := e.decide(decision(p, after...))
			<-reached
			e.edit("train", take)
			eventually(t, "the bridge knows", func() error {
				seen, err := last[*schemas.Placement](e, events.StreamHub, events.HubSubject(events.KindPlacement, e.ns, "train"))
				if err == nil && seen.Direct {
					err = fmt.Errorf("it says %+v", seen)
				}
				return err
			})
			close(held)
			if r := e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeRefused); r.Reason != bridge.ReasonNotDirect {
				t.Errorf("the receipt is %+v", r)
			}
			for _, write := range e.calls.take() {
				if strings.Contains(write, "train-decision-3/status") || strings.HasSuffix(write, "/train/status") {
					t.Errorf("it goes on with %s", write)
				}
			}
			if got := len(e.selected("train")); got != 248 {
				t.Errorf("%d clusters are selected, want the 248 that were when it stopped", got)
			}
			for _, page := range e.pages("train") {
				if bridge.Ours(&page) {
					t.Errorf("%s is not given up", page.Name)
				}
			}
		})
	}
}

// Nothing is written of a Placement in shadow, whatever is on the bus: not
// its shadow decision, nor one that claims to be direct.
func TestShadowIsNeverApplied(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	e.applied(decision(p, "a"))
	p = e.edit("train", takenAway()["shadow"])
	eventually(t, "the pages are given up", func() error {
		if page := e.pages("train")[0]; bridge.Ours(&page) {
			return fmt.Errorf("labels are %v", page.Labels)
		}
		return nil
	})
	e.isNative("train", 0)
	e.calls.take()
	shadow := decision(p, "b")
	shadow.Mode = schemas.ModeShadow
	e.publish(events.DecisionSubject(events.KindShadow, e.ns, "train"), schemas.TypePlacementDecided, shadow)
	sequence := e.decide(decision(p, "b"))
	e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeRefused)
	other, err := e.hub.ClusterV1beta1().Placements(e.ns).Create(t.Context(), &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
		Name: "later", Namespace: e.ns, Annotations: map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e.applied(decision(other, "c")) // all before it was looked at
	for _, write := range e.calls.take() {
		if strings.Contains(write, "train") {
			t.Errorf("it writes %s", write)
		}
	}
	e.selects("train", "a")
}

// A placement-writer that does not know yet that the Placement is OCM's again
// decides once more: what OCM has decided is said again behind it.
func TestALateDecisionDoesNotHideWhatOCMDecides(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	e.applied(decision(p, "a"))
	e.edit("train", takenAway()["native"])
	e.isNative("train", 0)
	e.isNative("train", e.decide(decision(p, "a")))
}

// isNative waits until the last decision is OCM's, behind one or later.
func (e *env) isNative(name string, after uint64) {
	e.t.Helper()
	eventually(e.t, "OCM's decision is the last", func() error {
		d, err := last[*schemas.PlacementDecision](e, events.StreamDecisions, events.DecisionSubject(events.KindPlacement, e.ns, name))
		if err == nil && (d.Mode != schemas.ModeNative || d.Previous < after) {
			err = fmt.Errorf("it is %+v", *d)
		}
		return err
	})
}
