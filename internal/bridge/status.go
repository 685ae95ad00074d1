package bridge

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// PlacementStatus is the status of p once its decision stands on pages, and
// whether that differs from the present one. A condition whose status does
// not change keeps its lastTransitionTime; conditions that the decision does
// not name stay as they are. now is server time.
func PlacementStatus(p *clusterv1beta1.Placement, d *schemas.PlacementDecision, groups []Group, pages []Page, now time.Time) (clusterv1beta1.PlacementStatus, bool) {
	status := *p.Status.DeepCopy()
	status.DecisionGroups = groupStatus(p.Name, groups, pages)
	status.NumberOfSelectedClusters = 0
	for _, g := range status.DecisionGroups {
		status.NumberOfSelectedClusters += g.ClustersCount
	}
	if status.Conditions == nil {
		status.Conditions = []metav1.Condition{}
	}
	for _, c := range d.Conditions {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type:               c.Type,
			Status:             metav1.ConditionStatus(c.Status),
			Reason:             c.Reason,
			Message:            c.Message,
			LastTransitionTime: metav1.NewTime(now),
		})
	}
	differs := !equality.Semantic.DeepEqual(p.Status, status)
	if at := scoreTime(p, d, differs); at != nil {
		status.LastScoreUpdateTime, differs = at, true
	}
	return status, differs
}

// scoreTime is the new lastScoreUpdateTime, nil where the present one stays.
// The scores on the hub are never older than it says. It is moved along with
// another change of the status, or else only once the scoreRateLimit is over,
// so that a move does not take a second write. A hub whose definition of a
// Placement is from before the field sets no scoreRateLimit either.
func scoreTime(p *clusterv1beta1.Placement, d *schemas.PlacementDecision, written bool) *metav1.Time {
	if p.Spec.ScoreRateLimit == "" || d.Now.IsZero() {
		return nil
	}
	limit, err := time.ParseDuration(p.Spec.ScoreRateLimit)
	if err != nil {
		limit = time.Minute
	}
	at := metav1.NewTime(d.Now.Truncate(time.Second))
	last := p.Status.LastScoreUpdateTime
	if last == nil || at.After(last.Time) && (written || at.Sub(last.Time) >= limit) {
		return &at
	}
	return nil
}

func groupStatus(placement string, groups []Group, pages []Page) []clusterv1beta1.DecisionGroupStatus {
	out := make([]clusterv1beta1.DecisionGroupStatus, len(groups))
	for i, g := range groups {
		out[i] = clusterv1beta1.DecisionGroupStatus{
			DecisionGroupIndex: int32(i), //nolint:gosec // a decision is at most 2 MiB
			DecisionGroupName:  g.Name,
			Decisions:          []string{},
			ClustersCount:      int32(len(g.Decisions)), //nolint:gosec // ditto
		}
	}
	for _, page := range pages {
		if page.Group < len(out) {
			g := &out[page.Group]
			g.Decisions = append(g.Decisions, PageName(placement, page.Number))
		}
	}
	return out
}
