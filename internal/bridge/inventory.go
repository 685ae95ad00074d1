package bridge

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// DefaultSet is the ManagedClusterSet of a cluster that names none, as OCM
// has it.
const DefaultSet = "default"

// Copied reports whether p was made out of a ManagedCluster of this hub, by
// OCM's copier or by the bridge: it is no source of clusters.
func Copied(p *sig.ClusterProfile) bool {
	return p.Spec.ClusterManager.Name == ManagerOCM || ownProfile(p)
}

// ProfiledCluster reads a ClusterProfile of an inventory as a cluster of the
// same name. Its ManagedClusterSet is the one that its label
// multicluster.x-k8s.io/clusterset names, else set, the one of its
// inventory, else DefaultSet. One whose control plane is not healthy has the
// taint that OCM gives an unavailable ManagedCluster, and one that nobody
// knows of that of an unreachable one, so that Placements tolerate both
// alike. A profile without that condition counts as available, for the API
// obliges nobody to set it.
func ProfiledCluster(p *sig.ClusterProfile, set string) *schemas.Cluster {
	out := &schemas.Cluster{
		Name: p.Name, UID: string(p.UID),
		Accepted: true,
		Version:  p.Status.Version.Kubernetes,
		Deleting: p.DeletionTimestamp != nil,
	}
	if !p.CreationTimestamp.IsZero() {
		out.CreatedAt = p.CreationTimestamp.UTC()
	}
	for key, value := range p.Labels {
		out.Labels = with(out.Labels, key, value)
	}
	out.Labels = with(out.Labels, clusterv1beta2.ClusterSetLabel, cmp.Or(p.Labels[sig.LabelClusterSetKey], set, DefaultSet))
	out.Annotations, out.Omitted = annotations(p.Annotations)
	for _, property := range p.Status.Properties {
		out.Claims = with(out.Claims, property.Name, property.Value)
	}
	for _, condition := range p.Status.Conditions {
		kind := condition.Type
		if kind == sig.ClusterConditionControlPlaneHealthy {
			kind = clusterv1.ManagedClusterConditionAvailable
		}
		out.Conditions = with(out.Conditions, kind, string(condition.Status))
		out.ConditionReasons = with(out.ConditionReasons, kind, condition.Reason)
	}
	for _, provider := range slices.Concat(p.Status.AccessProviders, p.Status.CredentialProviders) {
		if url := provider.Cluster.Server; url != "" && !slices.Contains(out.URLs, url) {
			out.URLs = append(out.URLs, url)
		}
	}
	out.Taints = healthTaints(p.Status.Conditions)
	return out
}

func healthTaints(conditions []metav1.Condition) []schemas.Taint {
	healthy := meta.FindStatusCondition(conditions, sig.ClusterConditionControlPlaneHealthy)
	if healthy == nil || healthy.Status == metav1.ConditionTrue {
		return nil
	}
	key := clusterv1.ManagedClusterTaintUnreachable
	if healthy.Status == metav1.ConditionFalse {
		key = clusterv1.ManagedClusterTaintUnavailable
	}
	return []schemas.Taint{{Key: key, Effect: string(clusterv1.TaintEffectNoSelect), TimeAdded: healthy.LastTransitionTime.UTC()}}
}
