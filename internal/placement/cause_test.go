package placement

import (
	"cmp"
	"strings"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestCauses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prior       *Prior
		score       int32 // of spoke-1, 80 by default
		spec        clusterv1beta1.PlacementSpec
		then        func(w *world) // between the prior decision and this one
		want        string
		wantMessage string
	}{
		"first":           {want: CauseFirst, wantMessage: "first decision: 1 of 2 eligible clusters selected: spoke-1 (80)"},
		"adopted":         {prior: PriorOf(&schemas.ObservedDecision{Placement: schemas.PlacementRef{Namespace: "default", Name: "p", UID: "uid-p"}, Clusters: []schemas.ObservedCluster{{Name: "spoke-2"}}}), want: CauseAdopted, wantMessage: "in: spoke-1 (80); out: spoke-2 (20)"},
		"score":           {then: func(w *world) { w.score("spoke-1", "gpu", 12, time.Minute); w.score("spoke-2", "gpu", 87, time.Minute) }, want: CauseScoreChanged, wantMessage: "spoke-2 (87) overtook spoke-1 (12)"},
		"tie":             {prior: selecting("spoke-2"), score: 20, want: CauseScoreChanged, wantMessage: "spoke-1 (20) comes before spoke-2 (20) by name"},
		"taint":           {then: func(w *world) { w.cluster("spoke-1", taintedWith("gpu", "full", "NoSelect")) }, want: CauseTaintChanged, wantMessage: "spoke-1 is out: taint gpu=full:NoSelect is not tolerated"},
		"cluster deleted": {then: func(w *world) { w.fleet.DeleteCluster("spoke-1") }, want: CauseClusterRemoved, wantMessage: "spoke-1 is out"},
		"terminating":     {then: func(w *world) { w.cluster("spoke-1", deleting) }, want: CauseClusterRemoved, wantMessage: "being deleted"},
		"left the set":    {then: func(w *world) { w.cluster("spoke-1", inSet("other")) }, want: CauseSetsChanged, wantMessage: "in none of the ManagedClusterSets [default]"},
		"expired":         {then: func(w *world) { w.score("spoke-2", "gpu", 20, time.Hour); w.now = w.now.Add(2 * time.Minute) }, want: CauseScoreExpired, wantMessage: "spoke-1 is out: score AddOn/gpu/gpu expired at 2026-11-30T12:01:00Z"},
		"new cluster": {spec: onGPU(3), then: func(w *world) {
			w.cluster("spoke-3")
			w.score("spoke-3", "gpu", 5, time.Minute)
		}, want: CauseClusterAdded, wantMessage: "in: spoke-3 (5)"},
		"scored at last": {spec: onGPU(3), then: func(w *world) { w.score("unscored", "gpu", 5, time.Minute) }, want: CauseScoreChanged, wantMessage: "in: unscored (5)"},
		"binding went":   {then: func(w *world) { w.fleet.DeleteBinding("default", "default") }, want: CauseSetsChanged, wantMessage: "out: spoke-1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for name, score := range map[string]int32{"spoke-1": cmp.Or(tt.score, 80), "spoke-2": 20} {
				w.cluster(name)
				w.score(name, "gpu", score, time.Minute)
			}
			w.cluster("unscored")
			if tt.spec.NumberOfClusters == nil {
				tt.spec = onGPU(1)
			}
			prior := tt.prior
			if tt.then != nil {
				prior = after(w.decide(place(t, tt.spec), nil))
				tt.then(w)
			}
			d := w.decide(place(t, tt.spec), prior)
			if d.Cause != tt.want || !strings.Contains(d.Message, tt.wantMessage) {
				t.Errorf("cause %s %q, want %s with %q", d.Cause, d.Message, tt.want, tt.wantMessage)
			}
		})
	}
}

func TestSpecChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	w.cluster("b")
	first := w.decide(place(t, clusterv1beta1.PlacementSpec{}), nil)
	d := w.decide(place(t, clusterv1beta1.PlacementSpec{NumberOfClusters: number(1)}, func(p *schemas.Placement) { p.Generation = 2 }), after(first))
	if d.Cause != CauseSpecChanged || d.Placement.Generation != 2 || Changed(&first, &d) != Material {
		t.Errorf("cause %s of generation %d, want SpecChanged of 2", d.Cause, d.Placement.Generation)
	}
}

func TestAnotherObjectOfTheNameHasNoPast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	w.cluster("b")
	prior := selecting("b")
	prior.Decision.Placement.UID = "another"
	d := w.decide(place(t, clusterv1beta1.PlacementSpec{NumberOfClusters: number(1)}), prior)
	if d.Cause != CauseFirst || d.Clusters[0].Name != "a" {
		t.Errorf("cause %s, selected %v: want First and a", d.Cause, d.Clusters)
	}
}
