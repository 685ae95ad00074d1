package placement

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func onGPU(n int32) clusterv1beta1.PlacementSpec {
	return clusterv1beta1.PlacementSpec{NumberOfClusters: number(n), PrioritizerPolicy: exact(addOnOf("gpu", 1))}
}

func TestDeadBand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		band       string
		challenger int32 // "a" against 50 of "b", which is selected
		want       string
		wantReason string
	}{
		"off, ahead":               {"0", 51, "a", ExplainedSelected},
		"off, level, by name":      {"0", 50, "a", ExplainedSelected},
		"level":                    {"10", 50, "b", ExplainedHeld},
		"within the band":          {"10", 59, "b", ExplainedHeld},
		"exactly the band":         {"10", 60, "b", ExplainedHeld},
		"more than the band":       {"10", 61, "a", ExplainedSelected},
		"behind":                   {"10", 49, "b", ExplainedSelected},
		"a band that is no number": {"ten", 51, "b", ExplainedHeld},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cluster("a")
			w.cluster("b")
			w.score("a", "gpu", tt.challenger, time.Minute)
			w.score("b", "gpu", 50, time.Minute)
			p := place(t, onGPU(1), annotated(AnnotationDeadBand, tt.band))
			d := w.decide(p, selecting("b"))
			if got := d.Clusters[0].Name; got != tt.want {
				t.Errorf("selected %s, want %s", got, tt.want)
			}
			if got := explanation(d, tt.want).Reason; got != tt.wantReason {
				t.Errorf("explained as %s, want %s", got, tt.wantReason)
			}
			if wrong := d.Conditions[1].Status == "True"; wrong != (tt.band == "ten") {
				t.Errorf("misconfigured: %s", d.Conditions[1].Message)
			}
		})
	}
}

func TestDeadBandDoesNotHoldAgainstFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	w.cluster("b", taintedWith("gone", "", "NoSelect"))
	w.score("a", "gpu", 1, time.Minute)
	w.score("b", "gpu", 100, time.Minute)
	d := w.decide(place(t, onGPU(1), annotated(AnnotationDeadBand, "200")), selecting("b"))
	if d.Clusters[0].Name != "a" || d.Cause != CauseTaintChanged {
		t.Errorf("selected %v because of %s, want a because of the taint", d.Clusters, d.Cause)
	}
}

func TestDeadBandOfSeveral(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, score := range map[string]int32{"a": 90, "b": 70, "c": 60, "d": 55} {
		w.cluster(name)
		w.score(name, "gpu", score, time.Minute)
	}
	d := w.decide(place(t, onGPU(2), annotated(AnnotationDeadBand, "20")), selecting("c", "d"))
	if got, want := SelectedNames(&d), []string{"a", "c"}; !slices.Equal(got, want) {
		t.Errorf("selected %v, want %v: a leads d by 35, b leads c by 10", got, want)
	}
}

func TestExplanationsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 100 {
		name := fmt.Sprintf("c%03d", i)
		w.cluster(name)
		if i < 60 {
			w.score(name, "gpu", int32(i), time.Minute)
		}
	}
	w.cluster("elsewhere", inSet("other"))
	d := w.decide(place(t, onGPU(50)), nil)
	counts := map[string]int{}
	for _, e := range d.Explanations {
		counts[e.Reason]++
	}
	want := map[string]int{ExplainedSelected: schemas.MaxExplainedSelected, ExplainedRunnerUp: schemas.MaxExplainedRunnerUp, "NoScore": maxExplainedRejected}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("explanations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"NoScore": 40, "ClusterSet": 1}, d.Rejected); diff != "" || d.Considered != 101 {
		t.Errorf("considered %d, rejected (-want +got):\n%s", d.Considered, diff)
	}
	if e := explanation(d, "c009"); e.Message != "1 behind c010, the last selected" || *e.Score != 9 {
		t.Errorf("runner-up explained as %q with %d", e.Message, *e.Score)
	}
}

func TestBadSpecIsRefused(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{"a list": `[]`, "a wrong type": `{"numberOfClusters":"two"}`, "not JSON": `{`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(schemas.Placement{Name: "p", Namespace: "n", UID: "u", Spec: json.RawMessage(spec)})
			var field *schemas.FieldError
			if err == nil || !strings.Contains(err.Error(), "n/p") || !asField(err, &field) {
				t.Errorf("got %v, want a field error that names n/p", err)
			}
		})
	}
}

func asField(err error, into **schemas.FieldError) bool {
	f, ok := err.(*schemas.FieldError) //nolint:errorlint // Parse promises this very type
	*into = f
	return ok
}

// largest is a fleet of 10,000 clusters with scores.
func largest(t testing.TB) *Fleet {
	t.Helper()
	f := NewFleet()
	if err := f.SetClusterSet(&schemas.ClusterSet{Name: "default", SelectorType: "ExclusiveClusterSetLabel"}); err != nil {
		t.Fatal(err)
	}
	f.SetBinding(&schemas.Binding{Name: "default", Namespace: "default", ClusterSet: "default"})
	for i := range 10_000 {
		name := fmt.Sprintf("spoke-%05d", i)
		f.SetCluster(&schemas.Cluster{Name: name, Labels: map[string]string{setLabel: "default", "tier": "a", "zone": fmt.Sprint(i % 3), "rack": fmt.Sprint(i % 40)}, Claims: map[string]string{"cloud": "aws"}})
		setGPU(f, name, int32(i%201-100))
	}
	return f
}

func setGPU(f *Fleet, name string, value int32) {
	until := start.Add(time.Hour)
	f.SetScore(&schemas.Score{Cluster: name, Scorer: "gpu", ValidUntil: &until, Items: []schemas.ScoreItem{{Name: "gpu", Value: &value, Reason: "Computed"}}}, start, start)
}

func TestLargestDecisionFits(t *testing.T) {
	t.Parallel()
	spec := clusterv1beta1.PlacementSpec{PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{Configurations: []clusterv1beta1.PrioritizerConfig{addOnOf("gpu", 10)}}}
	f := largest(t)
	names := make([]string, len(f.names))
	copy(names, f.names)
	f.SetDecision(Key{"default", "q"}, names[:5000])
	all := Decide(Input{Placement: place(t, spec), Fleet: f}, start)
	none := all
	none.Clusters = nil
	for name, prior := range map[string]*Prior{"first": nil, "all new": {Decision: &none}, "none moved": after(all)} {
		d := Decide(Input{Placement: place(t, spec), Fleet: f, Prior: prior}, start)
		body, err := json.Marshal(&d)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Clusters) != 10_000 || len(body) > 512<<10 {
			t.Errorf("%s: %d clusters in %d bytes, want at most %d", name, len(d.Clusters), len(body), 512<<10)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{}`, "5", "hold", "30s")
	f.Add(`{"numberOfClusters":-1,"prioritizerPolicy":{"mode":"Exact","configurations":[{"scoreCoordinate":{"type":"AddOn"},"weight":1}]}}`, "-1", "never", "-1s")
	f.Add(`{"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":"x%"}},"tolerations":[{}],"predicates":[{}]}`, "", "", "")
	f.Add(`{"scoreRateLimit":"9999999999999h","tolerations":[{"key":"k","tolerationSeconds":9223372036854775807}]}`, "99999999999", "zero", "1e9h")
	fleet := NewFleet()
	if err := fleet.SetClusterSet(&schemas.ClusterSet{Name: "default", SelectorType: "ExclusiveClusterSetLabel"}); err != nil {
		f.Fatal(err)
	}
	fleet.SetBinding(&schemas.Binding{Name: "default", Namespace: "default", ClusterSet: "default"})
	fleet.SetCluster(&schemas.Cluster{Name: "a", Labels: map[string]string{setLabel: "default"}, Taints: []schemas.Taint{{Key: "k", Effect: "NoSelect", TimeAdded: start}}})
	f.Fuzz(func(t *testing.T, spec, band, policy, grace string) {
		p, err := Parse(schemas.Placement{Name: "p", Namespace: "default", UID: "u", Spec: json.RawMessage(spec), Annotations: map[string]string{
			AnnotationDeadBand: band, AnnotationStalePolicy: policy, AnnotationStaleGrace: grace,
		}})
		if err != nil {
			return
		}
		d := Decide(Input{Placement: p, Fleet: fleet}, start)
		if err := d.Validate(); err != nil {
			t.Errorf("decision is not valid: %v", err)
		}
		if wrong := d.Conditions[1].Status == conditionTrue; wrong && d.Conditions[1].Message == "" {
			t.Error("misconfigured without a word")
		}
	})
}
