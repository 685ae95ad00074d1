package app_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// scoredDecision selects b before a.
func scoredDecision(p *clusterv1beta1.Placement, now time.Time, b, a int64) *schemas.PlacementDecision {
	d := decision(p, "b", "a")
	d.Now, d.Clusters[0].Score, d.Clusters[1].Score = now, b, a
	return d
}

// What OCM has fields for and ignores: the scores on the pages, their order,
// and when they were updated.
func TestScoresOnThePages(t *testing.T) {
	t.Parallel()
	e := start(t)
	placements := e.hub.ClusterV1beta1().Placements(e.ns)
	asked := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: "scored", Namespace: e.ns, Annotations: map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}}}
	asked.Spec.SortBy, asked.Spec.ScoreRateLimit = clusterv1beta1.PlacementSortByScore, "10m"
	p, err := placements.Create(t.Context(), asked, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Truncate(time.Second)
	shows := func(b, a int64, at time.Time, writes int, names ...string) {
		t.Helper()
		var want []clusterv1beta1.ClusterDecision
		for _, name := range names {
			want = append(want, clusterv1beta1.ClusterDecision{ClusterName: name, Score: map[string]int64{"a": a, "b": b}[name]})
		}
		pages := e.pages("scored")
		if len(pages) != 1 || !slices.Equal(pages[0].Status.Decisions, want) {
			t.Fatalf("pages are %+v, want %+v", pages, want)
		}
		if got := e.get("scored").Status.LastScoreUpdateTime; got == nil || !got.Time.Equal(at) {
			t.Errorf("lastScoreUpdateTime is %v, want %s", got, at)
		}
		if got := e.calls.take(); writes > 0 && len(got) != writes {
			t.Errorf("it took the writes %v, want %d", got, writes)
		}
	}
	e.applied(scoredDecision(p, now, 70, -3))
	shows(70, -3, now, 0, "b", "a")
	e.applied(scoredDecision(p, now.Add(time.Minute), 80, -3))
	shows(80, -3, now, 1, "b", "a")
	e.applied(scoredDecision(p, now.Add(10*time.Minute), 90, 4))
	shows(90, 4, now.Add(10*time.Minute), 2, "b", "a")

	e.retry(func() error {
		byName := e.get("scored")
		byName.Spec.SortBy = clusterv1beta1.PlacementSortByClusterName
		p, err = placements.Update(t.Context(), byName, metav1.UpdateOptions{})
		return err
	})
	e.applied(scoredDecision(p, now.Add(30*time.Minute), 91, 5))
	shows(91, 5, now.Add(30*time.Minute), 0, "a", "b")
}
