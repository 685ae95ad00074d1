package difftest

import (
	"math"
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Known says why Spokewire may answer otherwise than OCM, "" where it must
// not. There are two such reasons.
//
// A toleration holds for longer than OCM can count: its tolerationSeconds in
// nanoseconds overflow, so that OCM does not tolerate at all.
//
// A score that the Placement counts is missing or has expired. OCM counts it
// as 0, so that it outranks a bad score; Spokewire leaves the cluster out
// unless the Placement asks for OCM's way.
func (f *Fleet) Known(p *clusterv1beta1.Placement, now time.Time) string {
	if slices.ContainsFunc(p.Spec.Tolerations, overflows) {
		return "tolerationSeconds of more than 292 years"
	}
	if p.Annotations[annotationStalePolicy] != stalePolicyZero && f.lacksScore(p, now) {
		return "a score is missing or expired"
	}
	return ""
}

func overflows(t clusterv1beta1.Toleration) bool {
	return t.TolerationSeconds != nil && *t.TolerationSeconds > int64(math.MaxInt64/time.Second)
}

func (f *Fleet) lacksScore(p *clusterv1beta1.Placement, now time.Time) bool {
	for _, config := range p.Spec.PrioritizerPolicy.Configurations {
		if config.ScoreCoordinate == nil || config.ScoreCoordinate.AddOn == nil {
			continue
		}
		for _, c := range f.Clusters {
			if !f.hasScore(c.Name, config.ScoreCoordinate.AddOn, now) {
				return true
			}
		}
	}
	return false
}

func (f *Fleet) hasScore(cluster string, wanted *clusterv1beta1.AddOnScore, now time.Time) bool {
	for _, s := range f.Scores {
		if s.Namespace == cluster && s.Name == wanted.ResourceName && (s.Status.ValidUntil == nil || now.Before(s.Status.ValidUntil.Time)) {
			return hasItem(s, wanted.ScoreName)
		}
	}
	return false
}

func hasItem(s *clusterv1alpha1.AddOnPlacementScore, name string) bool {
	for _, item := range s.Status.Scores {
		if item.Name == name {
			return true
		}
	}
	return false
}
