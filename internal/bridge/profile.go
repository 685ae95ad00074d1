package bridge

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

// What the bridge says in the ClusterProfiles that it writes.
const (
	// ConditionJoined is OCM's, beside the API's ControlPlaneHealthy.
	ConditionJoined = "Joined"
	// ProviderSecretReader is the access provider of SIG-Multicluster that
	// reads a token from the Secret of the cluster's name in the consumer's
	// namespace.
	ProviderSecretReader = "secretreader"
	// extensionExec is the API's name of what a provider is told.
	extensionExec = "client.authentication.k8s.io/exec"
)

// Bounds of a property's value in the API, in bytes.
const maxProperty = 1024

// ProfileStep is one write of a ClusterProfile. Several may be for the same
// one, its status after its metadata.
type ProfileStep struct {
	Profile                *sig.ClusterProfile
	Create, Status, Delete bool
}

// ProfilePlan leads from the ClusterProfiles of a namespace to those that
// its clusters should have.
type ProfilePlan struct {
	Steps []ProfileStep
	// Taken are the names, sorted, that a ClusterProfile of another manager
	// has. It stays.
	Taken []string
}

// CopiedByOCM returns one of the ClusterProfiles that OCM's own copier keeps,
// nil where it keeps none.
func CopiedByOCM(profiles []*sig.ClusterProfile) *sig.ClusterProfile {
	i := slices.IndexFunc(profiles, func(p *sig.ClusterProfile) bool { return p.Spec.ClusterManager.Name == ManagerOCM })
	if i < 0 {
		return nil
	}
	return profiles[i]
}

// BoundClusters returns those of clusters that are in a ManagedClusterSet
// bound in the bindings' namespace, by name: as OCM's copier has it, and a
// Placement there. A set whose selector cannot be read holds none.
func BoundClusters(bindings []*clusterv1beta2.ManagedClusterSetBinding, set func(name string) *clusterv1beta2.ManagedClusterSet, clusters []*clusterv1.ManagedCluster) map[string]*clusterv1.ManagedCluster {
	var selectors []labels.Selector
	for _, b := range bindings {
		s := set(b.Spec.ClusterSet)
		if s == nil || b.Name != b.Spec.ClusterSet || b.DeletionTimestamp != nil {
			continue
		}
		if selector, err := setSelector(s); err == nil {
			selectors = append(selectors, selector)
		}
	}
	bound := map[string]*clusterv1.ManagedCluster{}
	for _, c := range clusters {
		in := slices.ContainsFunc(selectors, func(s labels.Selector) bool { return s.Matches(labels.Set(c.Labels)) })
		if in && c.DeletionTimestamp == nil {
			bound[c.Name] = c
		}
	}
	return bound
}

func setSelector(s *clusterv1beta2.ManagedClusterSet) (labels.Selector, error) {
	if s.Spec.ClusterSelector.SelectorType == clusterv1beta2.LabelSelector {
		return metav1.LabelSelectorAsSelector(s.Spec.ClusterSelector.LabelSelector)
	}
	return labels.SelectorFromSet(labels.Set{clusterv1beta2.ClusterSetLabel: s.Name}), nil
}

// PlanProfiles plans the ClusterProfiles of a namespace for clusters. have is
// all that the namespace holds of them.
func PlanProfiles(namespace string, clusters map[string]*clusterv1.ManagedCluster, have []*sig.ClusterProfile) ProfilePlan {
	var plan ProfilePlan
	there := map[string]*sig.ClusterProfile{}
	for _, p := range have {
		there[p.Name] = p
	}
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		wanted, old := Profile(namespace, clusters[name]), there[name]
		switch {
		case old == nil:
			plan.Steps = append(plan.Steps, ProfileStep{Profile: wanted, Create: true}, ProfileStep{Profile: wanted, Status: true})
		case !ownProfile(old):
			plan.Taken = append(plan.Taken, name)
		default:
			plan.Steps = append(plan.Steps, amend(old, wanted)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if clusters[name] == nil && ownProfile(there[name]) {
			plan.Steps = append(plan.Steps, ProfileStep{Profile: there[name], Delete: true})
		}
	}
	return plan
}

// ownProfile goes by the manager, which cannot be changed, unlike a label.
func ownProfile(p *sig.ClusterProfile) bool { return p.Spec.ClusterManager.Name == ManagedBy }

// amend brings old to what is wanted. Labels, properties and conditions that
// somebody else added stay.
func amend(old, wanted *sig.ClusterProfile) []ProfileStep {
	var steps []ProfileStep
	next := old.DeepCopy()
	if next.Labels == nil {
		next.Labels = map[string]string{}
	}
	delete(next.Labels, sig.LabelClusterSetKey)
	maps.Copy(next.Labels, wanted.Labels)
	next.OwnerReferences = wanted.OwnerReferences
	if !equality.Semantic.DeepEqual(old, next) {
		steps = append(steps, ProfileStep{Profile: next})
	}
	status := next.DeepCopy()
	status.Status.Version, status.Status.Properties = wanted.Status.Version, wanted.Status.Properties
	for _, c := range wanted.Status.Conditions {
		meta.SetStatusCondition(&status.Status.Conditions, c)
	}
	status.Status.AccessProviders = providers(old.Status.AccessProviders, wanted.Status.AccessProviders)
	if !equality.Semantic.DeepEqual(next.Status, status.Status) {
		steps = append(steps, ProfileStep{Profile: status, Status: true})
	}
	return steps
}

// providers are ours, and those of other names that are there: how a cluster
// is reached may be known to others only.
func providers(have, ours []sig.AccessProvider) []sig.AccessProvider {
	out := slices.Clone(ours)
	for _, p := range have {
		if !slices.ContainsFunc(ours, func(own sig.AccessProvider) bool { return own.Name == p.Name }) {
			out = append(out, p)
		}
	}
	return out
}

// Profile is the ClusterProfile of a ManagedCluster: what OCM's copier says
// of it, and where its API server is.
func Profile(namespace string, c *clusterv1.ManagedCluster) *sig.ClusterProfile {
	p := &sig.ClusterProfile{
		ObjectMeta: metav1.ObjectMeta{
			Name: c.Name, Namespace: namespace,
			Labels: map[string]string{
				LabelManagedBy:                ManagedBy,
				sig.LabelClusterManagerKey:    ManagedBy,
				clusterv1.ClusterNameLabelKey: c.Name,
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: clusterv1.GroupVersion.String(), Kind: "ManagedCluster", Name: c.Name, UID: c.UID,
			}},
		},
		Spec: sig.ClusterProfileSpec{DisplayName: c.Name, ClusterManager: sig.ClusterManager{Name: ManagedBy}},
	}
	if len(c.Name) > labelLimit {
		delete(p.Labels, clusterv1.ClusterNameLabelKey)
	}
	if set := c.Labels[clusterv1beta2.ClusterSetLabel]; set != "" {
		p.Labels[sig.LabelClusterSetKey] = set
	}
	p.Status = profileStatus(c)
	return p
}

// labelLimit is how long a label's value may be, in bytes.
const labelLimit = 63

func profileStatus(c *clusterv1.ManagedCluster) sig.ClusterProfileStatus {
	status := sig.ClusterProfileStatus{
		Version:    sig.ClusterVersion{Kubernetes: c.Status.Version.Kubernetes},
		Conditions: []metav1.Condition{},
	}
	seen := map[string]bool{}
	for _, claim := range c.Status.ClusterClaims {
		if claim.Name != "" && claim.Value != "" && len(claim.Value) <= maxProperty && !seen[claim.Name] {
			status.Properties = append(status.Properties, sig.Property{Name: claim.Name, Value: claim.Value})
		}
		seen[claim.Name] = true
	}
	for from, to := range map[string]string{
		clusterv1.ManagedClusterConditionAvailable: sig.ClusterConditionControlPlaneHealthy,
		clusterv1.ManagedClusterConditionJoined:    ConditionJoined,
	} {
		if condition := meta.FindStatusCondition(c.Status.Conditions, from); condition != nil {
			status.Conditions = append(status.Conditions, metav1.Condition{
				Type: to, Status: condition.Status, Reason: condition.Reason, Message: condition.Message,
				LastTransitionTime: condition.LastTransitionTime,
			})
		}
	}
	slices.SortFunc(status.Conditions, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
	if configs := c.Spec.ManagedClusterClientConfigs; len(configs) > 0 {
		status.AccessProviders = []sig.AccessProvider{secretReader(c.Name, configs[0])}
	}
	return status
}

func secretReader(cluster string, config clusterv1.ClientConfig) sig.AccessProvider {
	return sig.AccessProvider{Name: ProviderSecretReader, Cluster: clientcmdv1.Cluster{
		Server:                   config.URL,
		CertificateAuthorityData: config.CABundle,
		Extensions: []clientcmdv1.NamedExtension{{
			Name: extensionExec, Extension: runtime.RawExtension{Raw: []byte(`{"clusterName":"` + cluster + `"}`)},
		}},
	}}
}
