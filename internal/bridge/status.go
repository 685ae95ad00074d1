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
	status.NumberOfSelectedClusters = int32(len(d.Clusters)) //nolint:gosec // a decision is at most 2 MiB
	status.DecisionGroups = groupStatus(p.Name, groups, pages)
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
	return status, !equality.Semantic.DeepEqual(p.Status, status)
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
