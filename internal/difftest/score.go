package difftest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

var (
	scoreResources = []string{"others-a", "others-b"}
	scoreItems     = []string{"x", "y"}
)

// scoresOf are a cluster's AddOnPlacementScores, complete and good for at
// least a day. The values are few, so that clusters are often equal.
func scoresOf(d draw, cluster string, now time.Time) []*clusterv1alpha1.AddOnPlacementScore {
	var out []*clusterv1alpha1.AddOnPlacementScore
	for _, name := range scoreResources {
		s := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: cluster}}
		for _, item := range scoreItems {
			value := one(d, -100, -1, 0, 1, 50, 100, d.between(-100, 100))
			s.Status.Scores = append(s.Status.Scores, clusterv1alpha1.AddOnPlacementScoreItem{Name: item, Value: int32(value)}) //nolint:gosec // at most 100
		}
		switch {
		case d.often(40):
			s.Status.ValidUntil = &metav1.Time{Time: now.Add(time.Duration(d.between(24, 96)) * time.Hour).Truncate(time.Second)}
		case d.often(20):
			s.Status.ValidUntil = &metav1.Time{Time: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}
		}
		out = append(out, s)
	}
	return out
}

// dropScores makes, in one fleet of ten, some scores incomplete: the object
// or an item is not there, or expired long ago.
func (f *Fleet) dropScores(d draw) {
	if !d.often(10) {
		return
	}
	var kept []*clusterv1alpha1.AddOnPlacementScore
	for _, s := range f.Scores {
		switch {
		case d.often(10):
			continue
		case d.often(10):
			s.Status.Scores = s.Status.Scores[:1]
		case d.often(10):
			s.Status.ValidUntil = &metav1.Time{Time: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}
		}
		kept = append(kept, s)
	}
	f.Scores = kept
}
