package app_test

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// marks are the ways to take the bridge's marks off a Placement.
func marks() map[string]func(*clusterv1beta1.Placement) {
	return map[string]func(*clusterv1beta1.Placement){
		"origin changed": func(p *clusterv1beta1.Placement) { p.Annotations[bridge.AnnotationOrigin] = "hub" },
		"label removed":  func(p *clusterv1beta1.Placement) { delete(p.Labels, bridge.LabelManagedBy) },
		"all removed": func(p *clusterv1beta1.Placement) {
			p.Annotations, p.Labels = nil, nil
		},
	}
}

func (e *env) edit(name string, change func(*clusterv1beta1.Placement)) *clusterv1beta1.Placement {
	e.t.Helper()
	var edited *clusterv1beta1.Placement
	e.retry(func() (err error) {
		p := e.get(name)
		change(p)
		edited, err = e.hub.ClusterV1beta1().Placements(e.ns).Update(e.t.Context(), p, metav1.UpdateOptions{})
		return err
	})
	return edited
}

// A Placement of the bus stays the bus's, whatever is done to its marks and
// whether or not a bridge is there to see it.
func TestMarksCannotBeTakenOff(t *testing.T) {
	t.Parallel()
	e := start(t)
	sequence := e.request("train", `{"numberOfClusters": 2}`)
	e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied)
	reverted := func(what string) {
		t.Helper()
		eventually(t, what+" is reverted", func() error {
			if p := e.get("train"); !bridge.FromBus(p) || !bridge.Direct(p) {
				return fmt.Errorf("its marks are %v %v", p.Labels, p.Annotations)
			}
			return nil
		})
	}
	for what, change := range marks() {
		edited := e.edit("train", change)
		reverted(what)
		eventually(t, what+": a receipt says so", func() error {
			r, err := last[*schemas.Receipt](e, events.StreamReceipts, events.ReceiptSubject(events.KindPlacement, e.ns, "train"))
			if err == nil && (r.Reason != bridge.ReasonRestored || r.Objects[0].ResourceVersion <= edited.ResourceVersion && len(r.Objects[0].ResourceVersion) == len(edited.ResourceVersion)) {
				return fmt.Errorf("it is %+v", *r)
			}
			return err
		})
	}
	for what, change := range marks() {
		e.stop()
		e.edit("train", change)
		e.run()
		reverted(what + " while no bridge ran")
	}
	e.receipt(events.KindPlacement, "train", e.request("train", `{"numberOfClusters": 3}`), schemas.OutcomeApplied)

	e.stop()
	e.edit("train", marks()["all removed"])
	sequence = e.endRequest("train")
	e.run()
	e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied)
	if _, err := e.hub.ClusterV1beta1().Placements(e.ns).Get(t.Context(), "train", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there (%v)", err)
	}
}

// One mark alone, put on a Placement of the hub, does not make it the bus's.
// Nor does it when the bridge has written its status.
func TestOneMarkIsNotEnough(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("theirs", true)
	e.applied(decision(p, "a"))
	for what, change := range map[string]func(*clusterv1beta1.Placement){
		"annotation": func(p *clusterv1beta1.Placement) {
			p.Labels = nil
			p.Annotations[bridge.AnnotationOrigin] = bridge.OriginBus
		},
		"label": func(p *clusterv1beta1.Placement) {
			delete(p.Annotations, bridge.AnnotationOrigin)
			p.Labels = map[string]string{bridge.LabelManagedBy: bridge.ManagedBy}
		},
	} {
		edited := e.edit("theirs", change)
		for _, ask := range []func() uint64{
			func() uint64 { return e.request("theirs", `{"numberOfClusters": 9}`) },
			func() uint64 { return e.endRequest("theirs") },
		} {
			if r := e.receipt(events.KindPlacement, "theirs", ask(), schemas.OutcomeRefused); r.Reason != bridge.ReasonBornOnHub {
				t.Errorf("%s: reason is %s", what, r.Reason)
			}
		}
		if now := e.get("theirs"); now.ResourceVersion != edited.ResourceVersion {
			t.Errorf("%s: it was changed to %+v", what, now)
		}
	}
}

// What somebody deletes on the hub comes back with a receipt that says so.
func TestDeletedOnTheHub(t *testing.T) {
	t.Parallel()
	e := start(t)
	sequence := e.request("train", `{}`)
	e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied)
	if err := e.hub.ClusterV1beta1().Placements(e.ns).Delete(t.Context(), "train", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a receipt says that it was created anew", func() error {
		r, err := last[*schemas.Receipt](e, events.StreamReceipts, events.ReceiptSubject(events.KindPlacement, e.ns, "train"))
		if err == nil && (r.Reason != bridge.ReasonRestored || r.Sequence != sequence) {
			return fmt.Errorf("it is %+v", *r)
		}
		return err
	})
	e.get("train")
}
