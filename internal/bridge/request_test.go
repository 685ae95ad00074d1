package bridge

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestRequestedPlacement(t *testing.T) {
	t.Parallel()
	request := func(spec string) *schemas.PlacementRequest {
		return &schemas.PlacementRequest{
			Metadata: schemas.Metadata{Name: "p", Namespace: "ns", Labels: map[string]string{"a": "b", LabelManagedBy: "me"}, Annotations: map[string]string{AnnotationOrigin: "me"}},
			Spec:     json.RawMessage(spec),
		}
	}
	const zero = `{"numberOfClusters":2,"prioritizerPolicy":{"configurations":[{"scoreCoordinate":{"builtIn":"Steady"},"weight":0}]}}`
	m, err := RequestedPlacement(request(zero))
	if err != nil || !FromBus(&clusterv1beta1.Placement{ObjectMeta: m.ObjectMeta}) || m.Labels["a"] != "b" {
		t.Fatalf("placement is %+v (%v)", m, err)
	}
	written, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"Placement","apiVersion":"cluster.open-cluster-management.io/v1beta1","metadata":{"name":"p","namespace":"ns",` +
		`"labels":{"a":"b","app.kubernetes.io/managed-by":"spokewire"},"annotations":{"spokewire.dev/origin":"bus"}},"spec":` + zero + `}`
	if diff := cmp.Diff(want, string(written)); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	for spec, want := range map[string]string{
		`{"numberOfCluster": 2}`:        "spec.numberOfCluster",
		`{"numberOfClusters": "2"}`:     "spec.numberOfClusters",
		`{"predicates": [{"nope": 1}]}`: "spec.nope",
		`{"tolerations": [{"key": 1}]}`: "spec.tolerations.key",
		`[]`:                            "spec",
	} {
		var field *schemas.FieldError
		if _, err := RequestedPlacement(request(spec)); !errors.As(err, &field) || field.Field != want {
			t.Errorf("%s: %v, want field %s", spec, err, want)
		}
	}
}

func TestMergeRequest(t *testing.T) {
	t.Parallel()
	want := newManifest(json.RawMessage(`{}`), placement(func(p *clusterv1beta1.Placement) { p.Labels = map[string]string{"team": "a"} }).ObjectMeta)
	have := placement(func(p *clusterv1beta1.Placement) {
		p.ResourceVersion = "7"
		p.Labels = map[string]string{"team": "a", "theirs": "kept"}
		p.Annotations["kubectl.kubernetes.io/x"] = "kept"
	})
	if merged, changed := MergeRequest(have, want); changed || merged.ResourceVersion != "7" {
		t.Errorf("nothing differs, and yet: %+v", merged)
	}
	have.Annotations["cluster.open-cluster-management.io/extra"] = "theirs"
	merged, changed := MergeRequest(have, want)
	if _, kept := merged.Annotations["cluster.open-cluster-management.io/extra"]; kept || !changed || merged.Labels["theirs"] != "kept" {
		t.Errorf("merged is %+v", merged.ObjectMeta)
	}
}

// TestObservedPlacementSaysEveryWeight, and all else as OCM's type does.
func TestObservedPlacementSaysEveryWeight(t *testing.T) {
	t.Parallel()
	const text = `{"clusterSets":["a"],"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":2}},"numberOfClusters":0,` +
		`"prioritizerPolicy":{"configurations":[{"scoreCoordinate":{"builtIn":"Steady","type":"BuiltIn"},"weight":0},` +
		`{"scoreCoordinate":{"addOn":{"resourceName":"gpu","scoreName":"gpu"},"type":"AddOn"},"weight":-2}],"mode":"Exact"},` +
		`"sortBy":"Score","spreadPolicy":{},"tolerations":[{"key":"gpu","operator":"Exists","tolerationSeconds":0}]}`
	p := placement()
	if err := json.Unmarshal([]byte(text), &p.Spec); err != nil {
		t.Fatal(err)
	}
	observed, err := Placement(p)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(observed.Spec, &got), json.Unmarshal([]byte(text), &want)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWroteSpec(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		manager, subresource string
		want                 bool
	}{
		"the spec":        {"bridge", "", true},
		"the status":      {"bridge", "status", false},
		"somebody else's": {"kubectl", "", false},
	} {
		p := placement(func(p *clusterv1beta1.Placement) {
			p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "them"}, {Manager: tt.manager, Subresource: tt.subresource}}
		})
		if got := WroteSpec(p, "bridge"); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
