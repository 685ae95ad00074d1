package bridge

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// RolloutOf reads a ManifestWork that a ManifestWorkReplicaSet of a namespace
// put on a cluster. It is none where the work is another's.
//
// It is up once its cluster's agent has applied and found all of its newest
// manifests, and unless the agent says that it is degraded or, by rules of the
// user's, progressing still: as OCM's own rollout counts a success.
func RolloutOf(w *workv1.ManifestWork, namespace string) (Rollout, bool) {
	set := w.Labels[workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey]
	if !strings.HasPrefix(set, namespace+".") {
		return Rollout{}, false
	}
	is := func(condition string, want metav1.ConditionStatus) bool {
		c := meta.FindStatusCondition(w.Status.Conditions, condition)
		return c != nil && c.Status == want && c.ObservedGeneration == w.Generation
	}
	not := func(condition string) bool {
		return meta.FindStatusCondition(w.Status.Conditions, condition) == nil || is(condition, metav1.ConditionFalse)
	}
	up := w.DeletionTimestamp == nil &&
		is(workv1.WorkApplied, metav1.ConditionTrue) && is(workv1.WorkAvailable, metav1.ConditionTrue) &&
		not(workv1.WorkProgressing) && not(workv1.WorkDegraded)
	return Rollout{Cluster: w.Namespace, Workload: set, Up: up}, true
}
