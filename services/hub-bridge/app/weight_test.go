package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// zeroWeights switches both of OCM's defaults off; the third weight is left
// to the API server.
const zeroWeights = `{"prioritizerPolicy": {"mode": "Additive", "configurations": [
	{"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Steady"}, "weight": 0},
	{"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Balance"}, "weight": 0},
	{"scoreCoordinate": {"type": "AddOn", "addOn": {"resourceName": "gpu", "scoreName": "gpu"}}}]}}`

// raw is the Placements of the test's namespace as kubectl sees them: the
// typed client can neither write nor show a weight of 0.
func (e *env) raw() dynamic.ResourceInterface {
	return dynamic.NewForConfigOrDie(theHub.Admin()).Resource(schema.GroupVersionResource{
		Group: "cluster.open-cluster-management.io", Version: "v1beta1", Resource: "placements",
	}).Namespace(e.ns)
}

func (e *env) rawSpec(name string) any {
	e.t.Helper()
	o, err := e.raw().Get(e.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	return o.Object["spec"]
}

// A Placement that was asked for over the bus is the one that kubectl makes
// of the same text, and so is what the bus hears of it.
func TestWeightZero(t *testing.T) {
	t.Parallel()
	e := start(t)
	var spec any
	if err := json.Unmarshal([]byte(zeroWeights), &spec); err != nil {
		t.Fatal(err)
	}
	_, err := e.raw().Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": schemas.PlacementAPIVersion, "kind": schemas.PlacementKind,
		"metadata": map[string]any{"name": "kubectl", "namespace": e.ns}, "spec": spec,
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sequence := e.request("bus", zeroWeights)
	e.receipt(events.KindPlacement, "bus", sequence, schemas.OutcomeApplied)
	e.sameSpec("kubectl", "bus", `[0,0,1]`)

	// An edit is reverted to the zeros, and an update keeps them.
	edited, err := e.raw().Get(t.Context(), "bus", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(edited.Object, int64(3), "spec", "numberOfClusters"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.raw().Update(t.Context(), edited, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the edit is reverted", func() error {
		r, err := last[*schemas.Receipt](e, events.StreamReceipts, events.ReceiptSubject(events.KindPlacement, e.ns, "bus"))
		if err == nil && r.Reason != bridge.ReasonRestored {
			return fmt.Errorf("the last receipt is %+v", *r)
		}
		return err
	})
	e.sameSpec("kubectl", "bus", `[0,0,1]`)
	e.receipt(events.KindPlacement, "bus", e.request("bus", zeroWeights), schemas.OutcomeUnchanged)

	// And 1 becomes 0.
	sequence = e.request("other", `{"prioritizerPolicy": {"configurations": [{"scoreCoordinate": {"builtIn": "Steady"}}]}}`)
	e.receipt(events.KindPlacement, "other", sequence, schemas.OutcomeApplied)
	e.receipt(events.KindPlacement, "other", e.request("other", zeroWeights), schemas.OutcomeApplied)
	e.sameSpec("kubectl", "other", `[0,0,1]`)
}

// sameSpec compares two Placements, on the hub and as the bus has them.
func (e *env) sameSpec(a, b, weights string) {
	e.t.Helper()
	if diff := cmp.Diff(e.rawSpec(a), e.rawSpec(b)); diff != "" {
		e.t.Errorf("on the hub (-%s +%s):\n%s", a, b, diff)
	}
	for _, name := range []string{a, b} {
		observed(e, events.KindPlacement, e.ns, name, func(p *schemas.Placement) error {
			if got := weightsOf(p.Spec); got != weights {
				return fmt.Errorf("weights are %s, want %s", got, weights)
			}
			return nil
		})
	}
}

// weightsOf lists the weights that a spec says, null for none.
func weightsOf(spec json.RawMessage) string {
	var s struct {
		PrioritizerPolicy struct {
			Configurations []struct{ Weight *int }
		}
	}
	if err := json.Unmarshal(spec, &s); err != nil {
		return err.Error()
	}
	var weights []*int
	for _, c := range s.PrioritizerPolicy.Configurations {
		weights = append(weights, c.Weight)
	}
	text, err := json.Marshal(weights)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
