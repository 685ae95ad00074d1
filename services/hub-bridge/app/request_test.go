package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func (e *env) request(name, spec string) uint64 {
	e.t.Helper()
	return e.publish(events.ConfigSubject(events.KindPlacement, e.ns, name), schemas.TypeConfigPlacement, &schemas.PlacementRequest{
		APIVersion: schemas.PlacementAPIVersion, Kind: schemas.PlacementKind,
		Metadata: schemas.Metadata{Name: name, Namespace: e.ns, Annotations: map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}},
		Spec:     json.RawMessage(spec),
	})
}

func (e *env) endRequest(name string) uint64 {
	e.t.Helper()
	return e.publish(events.ConfigSubject(events.KindPlacement, e.ns, name), schemas.TypeConfigPlacementDeleted,
		&schemas.Deleted{Namespace: e.ns, Name: name}, events.Tombstone())
}

func TestPlacementOverTheBus(t *testing.T) {
	t.Parallel()
	e := start(t)
	sequence := e.request("train", `{"numberOfClusters": 2}`)
	e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied)
	p := e.get("train")
	if *p.Spec.NumberOfClusters != 2 || !bridge.FromBus(p) || !bridge.Direct(p) {
		t.Errorf("placement is %+v", p)
	}

	// Edits on the hub do not last, whatever they touch.
	for name, edit := range map[string]func(*clusterv1beta1.Placement){
		"a field asked for":     func(p *clusterv1beta1.Placement) { n := int32(7); p.Spec.NumberOfClusters = &n },
		"a field not asked for": func(p *clusterv1beta1.Placement) { p.Spec.ClusterSets = []string{"other"} },
		"an annotation":         func(p *clusterv1beta1.Placement) { delete(p.Annotations, clusterv1beta1.PlacementDisableAnnotation) },
	} {
		var edited *clusterv1beta1.Placement
		e.retry(func() (err error) {
			p := e.get("train")
			edit(p)
			edited, err = e.hub.ClusterV1beta1().Placements(e.ns).Update(t.Context(), p, metav1.UpdateOptions{})
			return err
		})
		eventually(t, name+" is reverted", func() error {
			p := e.get("train")
			if p.ResourceVersion == edited.ResourceVersion || *p.Spec.NumberOfClusters != 2 || len(p.Spec.ClusterSets) != 0 || !bridge.Direct(p) {
				return fmt.Errorf("it is %+v", p.Spec)
			}
			return nil
		})
		eventually(t, "a receipt says so", func() error {
			r, err := last[*schemas.Receipt](e, events.StreamReceipts, events.ReceiptSubject(events.KindPlacement, e.ns, "train"))
			if err == nil && (r.Reason != bridge.ReasonRestored || r.Sequence != sequence) {
				return fmt.Errorf("it is %+v", *r)
			}
			return err
		})
	}

	sequence = e.request("train", `{"numberOfClusters": 3}`)
	e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied)
	if n := *e.get("train").Spec.NumberOfClusters; n != 3 {
		t.Errorf("numberOfClusters is %d, want 3", n)
	}

	// One that somebody deletes on the hub comes back; one that is ended on
	// the bus goes.
	if err := e.hub.ClusterV1beta1().Placements(e.ns).Delete(t.Context(), "train", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is created anew", func() error {
		_, err := e.hub.ClusterV1beta1().Placements(e.ns).Get(t.Context(), "train", metav1.GetOptions{})
		return err
	})
	e.receipt(events.KindPlacement, "train", e.endRequest("train"), schemas.OutcomeApplied)
	if _, err := e.hub.ClusterV1beta1().Placements(e.ns).Get(t.Context(), "train", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there (%v)", err)
	}
}

func TestPlacementBornOnTheHub(t *testing.T) {
	t.Parallel()
	e := start(t)
	before := e.placement("theirs", false)
	r := e.receipt(events.KindPlacement, "theirs", e.request("theirs", `{"numberOfClusters": 9}`), schemas.OutcomeRefused)
	if r.Reason != bridge.ReasonBornOnHub {
		t.Errorf("reason is %s", r.Reason)
	}
	r = e.receipt(events.KindPlacement, "theirs", e.endRequest("theirs"), schemas.OutcomeRefused)
	if r.Reason != bridge.ReasonBornOnHub {
		t.Errorf("reason is %s", r.Reason)
	}
	if now := e.get("theirs"); now.ResourceVersion != before.ResourceVersion {
		t.Errorf("it was changed to %+v", now)
	}
}

func TestPlacementThatTheHubRefuses(t *testing.T) {
	t.Parallel()
	e := start(t)
	for name, tt := range map[string]struct{ spec, field string }{
		"unknown":               {`{"numberOfClustersX": 1}`, "spec.numberOfClustersX"},
		"typed":                 {`{"numberOfClusters": "two"}`, "spec.numberOfClusters"},
		"range":                 {`{"prioritizerPolicy": {"configurations": [{"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Steady"}, "weight": 99}]}}`, "spec.prioritizerPolicy.configurations[0].weight"},
		strings.Repeat("n", 64): {`{}`, "metadata.name"},
	} {
		sequence := e.request(name, tt.spec)
		r := e.receipt(events.KindPlacement, name, sequence, schemas.OutcomeRefused)
		if r.Reason != bridge.ReasonRefusedByHub || r.Message == "" {
			t.Errorf("%s: receipt is %+v", name, *r)
		}
		eventually(t, name+": a dead letter", func() error {
			letter, err := last[*schemas.DeadLetter](e, events.StreamDead, events.DeadSubject("hub-bridge", events.StreamConfig, sequence))
			if err == nil && (letter.Field != tt.field || letter.Reason != bridge.ReasonRefusedByHub) {
				return fmt.Errorf("it names %s (%s)", letter.Field, letter.Reason)
			}
			return err
		})
	}
	e.receipt(events.KindPlacement, "fine", e.request("fine", `{}`), schemas.OutcomeApplied)
}

// A request for a namespace that comes later is kept and tried again.
func TestNamespaceComesLater(t *testing.T) {
	t.Parallel()
	e := start(t)
	later := e.ns + "-later"
	sequence := e.publish(events.ConfigSubject(events.KindPlacement, later, "p"), schemas.TypeConfigPlacement, &schemas.PlacementRequest{
		APIVersion: schemas.PlacementAPIVersion, Kind: schemas.PlacementKind,
		Metadata: schemas.Metadata{Name: "p", Namespace: later}, Spec: json.RawMessage(`{}`),
	})
	if r := e.receiptIn(events.KindPlacement, later, "p", sequence, schemas.OutcomeRefused); r.Reason != bridge.ReasonNoNamespace {
		t.Errorf("reason is %s", r.Reason)
	}
	newNamespace(t, later)
	e.receiptIn(events.KindPlacement, later, "p", sequence, schemas.OutcomeApplied)
	if _, err := last[*schemas.DeadLetter](e, events.StreamDead, events.DeadSubject("hub-bridge", events.StreamConfig, sequence)); !errors.Is(err, events.ErrNotFound) {
		t.Errorf("it was buried (%v)", err)
	}
}
