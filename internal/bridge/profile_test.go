package bridge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func managed(name, set string, change ...func(*clusterv1.ManagedCluster)) *clusterv1.ManagedCluster {
	c := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{clusterv1beta2.ClusterSetLabel: set}},
		Spec: clusterv1.ManagedClusterSpec{ManagedClusterClientConfigs: []clusterv1.ClientConfig{
			{URL: "https://" + name + ":6443", CABundle: []byte("authority")},
		}},
		Status: clusterv1.ManagedClusterStatus{
			Version:       clusterv1.ManagedClusterVersion{Kubernetes: "v1.37.2"},
			ClusterClaims: []clusterv1.ManagedClusterClaim{{Name: "region", Value: "north"}, {Name: "long", Value: strings.Repeat("x", 1025)}},
			Conditions: []metav1.Condition{
				{Type: clusterv1.ManagedClusterConditionJoined, Status: "True", Reason: "Joined", LastTransitionTime: metav1.NewTime(noon)},
				{Type: clusterv1.ManagedClusterConditionAvailable, Status: "Unknown", Reason: "Silent", LastTransitionTime: metav1.NewTime(noon)},
				{Type: clusterv1.ManagedClusterConditionHubAccepted, Status: "True", Reason: "Accepted", LastTransitionTime: metav1.NewTime(noon)},
			},
		},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func TestProfileSaysWhatOCMsCopierSays(t *testing.T) {
	t.Parallel()
	p := Profile("apps", managed("c", "default"))
	want := sig.ClusterProfileStatus{
		Version:    sig.ClusterVersion{Kubernetes: "v1.37.2"},
		Properties: []sig.Property{{Name: "region", Value: "north"}}, // the API takes no longer value
		Conditions: []metav1.Condition{
			{Type: sig.ClusterConditionControlPlaneHealthy, Status: "Unknown", Reason: "Silent", LastTransitionTime: metav1.NewTime(noon)},
			{Type: ConditionJoined, Status: "True", Reason: "Joined", LastTransitionTime: metav1.NewTime(noon)},
		},
		AccessProviders: []sig.AccessProvider{{Name: ProviderSecretReader, Cluster: clientcmdv1.Cluster{
			Server: "https://c:6443", CertificateAuthorityData: []byte("authority"), Extensions: p.Status.AccessProviders[0].Cluster.Extensions,
		}}},
	}
	if diff := cmp.Diff(want, p.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if got := string(p.Status.AccessProviders[0].Cluster.Extensions[0].Extension.Raw); got != `{"clusterName":"c"}` {
		t.Errorf("the provider is told %s", got)
	}
	labels := map[string]string{
		LabelManagedBy: ManagedBy, sig.LabelClusterManagerKey: ManagedBy, sig.LabelClusterSetKey: "default", clusterv1.ClusterNameLabelKey: "c",
	}
	if diff := cmp.Diff(labels, p.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if p.Namespace != "apps" || p.Name != "c" || p.Spec.ClusterManager.Name != ManagedBy || p.OwnerReferences[0].UID != "uid-c" {
		t.Errorf("the profile is %+v", p)
	}
}

func TestBoundClusters(t *testing.T) {
	t.Parallel()
	sets := map[string]*clusterv1beta2.ManagedClusterSet{}
	for name, selector := range map[string]clusterv1beta2.ManagedClusterSelector{
		"blue": {}, "red": {SelectorType: clusterv1beta2.ExclusiveClusterSetLabel},
		"global": {SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{}},
		"bad": {SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Never"}},
		}},
	} {
		sets[name] = &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: selector}}
	}
	bind := func(name, set string) *clusterv1beta2.ManagedClusterSetBinding {
		return &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set}}
	}
	going := managed("going", "blue", func(c *clusterv1.ManagedCluster) { c.DeletionTimestamp = &metav1.Time{Time: noon} })
	clusters := []*clusterv1.ManagedCluster{managed("b", "blue"), managed("r", "red"), managed("n", ""), going}
	for name, tt := range map[string]struct {
		bindings []*clusterv1beta2.ManagedClusterSetBinding
		want     string
	}{
		"none":                      {nil, "[]"},
		"one":                       {[]*clusterv1beta2.ManagedClusterSetBinding{bind("blue", "blue")}, "[b]"},
		"two":                       {[]*clusterv1beta2.ManagedClusterSetBinding{bind("blue", "blue"), bind("red", "red")}, "[b r]"},
		"all":                       {[]*clusterv1beta2.ManagedClusterSetBinding{bind("global", "global")}, "[b n r]"},
		"a binding of another name": {[]*clusterv1beta2.ManagedClusterSetBinding{bind("mine", "blue")}, "[]"},
		"a set that is not there":   {[]*clusterv1beta2.ManagedClusterSetBinding{bind("gone", "gone")}, "[]"},
		"a set that cannot be read": {[]*clusterv1beta2.ManagedClusterSetBinding{bind("bad", "bad"), bind("red", "red")}, "[r]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for name := range BoundClusters(tt.bindings, func(name string) *clusterv1beta2.ManagedClusterSet { return sets[name] }, clusters) {
				got = append(got, name)
			}
			slices.Sort(got)
			if fmt.Sprint(got) != tt.want {
				t.Errorf("it holds %v, want %s", got, tt.want)
			}
		})
	}
}

func TestPlanProfiles(t *testing.T) {
	t.Parallel()
	has := func(change ...func(*sig.ClusterProfile)) *sig.ClusterProfile {
		p := Profile("apps", managed("c", "default"))
		for _, f := range change {
			f(p)
		}
		return p
	}
	tests := map[string]struct {
		clusters []*clusterv1.ManagedCluster
		have     []*sig.ClusterProfile
		want     []string
		taken    []string
	}{
		"new":           {clusters: []*clusterv1.ManagedCluster{managed("c", "default")}, want: []string{"create c", "status c"}},
		"nothing to do": {clusters: []*clusterv1.ManagedCluster{managed("c", "default")}, have: []*sig.ClusterProfile{has()}},
		"gone":          {have: []*sig.ClusterProfile{has()}, want: []string{"delete c"}},
		"another's": {
			clusters: []*clusterv1.ManagedCluster{managed("c", "default")},
			have:     []*sig.ClusterProfile{has(func(p *sig.ClusterProfile) { p.Spec.ClusterManager.Name = "fleet" })}, taken: []string{"c"},
		},
		"another's, of no cluster": {have: []*sig.ClusterProfile{has(func(p *sig.ClusterProfile) { p.Spec.ClusterManager.Name = ManagerOCM })}},
		"a claim changed": {
			clusters: []*clusterv1.ManagedCluster{managed("c", "default", func(c *clusterv1.ManagedCluster) { c.Status.ClusterClaims = nil })},
			have:     []*sig.ClusterProfile{has()}, want: []string{"status c"},
		},
		"the set changed": {clusters: []*clusterv1.ManagedCluster{managed("c", "")}, have: []*sig.ClusterProfile{has()}, want: []string{"update c"}},
		"what others add stays": {
			clusters: []*clusterv1.ManagedCluster{managed("c", "default")},
			have: []*sig.ClusterProfile{has(func(p *sig.ClusterProfile) {
				p.Labels["team"] = "x"
				p.Status.Conditions = append(p.Status.Conditions, metav1.Condition{Type: "Billed"})
				p.Status.AccessProviders = append(p.Status.AccessProviders, sig.AccessProvider{Name: "cloud"})
			})},
		},
		"what others change is restored": {
			clusters: []*clusterv1.ManagedCluster{managed("c", "default")},
			have: []*sig.ClusterProfile{has(func(p *sig.ClusterProfile) {
				p.Labels, p.Status.AccessProviders[0].Cluster.Server = nil, "https://evil"
			})},
			want: []string{"update c", "status c"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clusters := map[string]*clusterv1.ManagedCluster{}
			for _, c := range tt.clusters {
				clusters[c.Name] = c
			}
			plan := PlanProfiles("apps", clusters, tt.have)
			var got []string
			for _, s := range plan.Steps {
				verb := "update"
				switch {
				case s.Create:
					verb = "create"
				case s.Status:
					verb = "status"
				case s.Delete:
					verb = "delete"
				}
				got = append(got, verb+" "+s.Profile.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.taken, plan.Taken); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCopiedByOCM(t *testing.T) {
	t.Parallel()
	own := Profile("apps", managed("c", "default"))
	copied := own.DeepCopy()
	copied.Spec.ClusterManager.Name = ManagerOCM
	if got := CopiedByOCM([]*sig.ClusterProfile{own}); got != nil {
		t.Errorf("it takes %+v for OCM's", got)
	}
	if got := CopiedByOCM([]*sig.ClusterProfile{own, copied}); got != copied {
		t.Errorf("it finds %+v", got)
	}
	foreign := own.DeepCopy()
	foreign.Spec.ClusterManager.Name = "fleet"
	if !Copied(own) || !Copied(copied) || Copied(foreign) {
		t.Error("only the copies of ManagedClusters are no source")
	}
}

func TestProfiledCluster(t *testing.T) {
	t.Parallel()
	profile := func(change ...func(*sig.ClusterProfile)) *sig.ClusterProfile {
		p := &sig.ClusterProfile{
			ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "fleet", UID: "u", Labels: map[string]string{"tier": "gold"}},
			Status: sig.ClusterProfileStatus{
				Version:         sig.ClusterVersion{Kubernetes: "v1.36.0"},
				Properties:      []sig.Property{{Name: "region", Value: "south"}},
				AccessProviders: []sig.AccessProvider{{Name: "x", Cluster: clientcmdv1.Cluster{Server: "https://c"}}},
			},
		}
		for _, f := range change {
			f(p)
		}
		return p
	}
	health := func(status metav1.ConditionStatus) func(*sig.ClusterProfile) {
		return func(p *sig.ClusterProfile) {
			p.Status.Conditions = []metav1.Condition{{Type: sig.ClusterConditionControlPlaneHealthy, Status: status, Reason: "R", LastTransitionTime: metav1.NewTime(noon)}}
		}
	}
	base := func(change ...func(*schemas.Cluster)) *schemas.Cluster {
		c := &schemas.Cluster{
			Name: "c", UID: "u", Accepted: true, Version: "v1.36.0", URLs: []string{"https://c"},
			Labels: map[string]string{"tier": "gold", clusterv1beta2.ClusterSetLabel: "default"},
			Claims: map[string]string{"region": "south"},
		}
		for _, f := range change {
			f(c)
		}
		return c
	}
	condition := func(status string) func(*schemas.Cluster) {
		return func(c *schemas.Cluster) {
			c.Conditions = map[string]string{clusterv1.ManagedClusterConditionAvailable: status}
			c.ConditionReasons = map[string]string{clusterv1.ManagedClusterConditionAvailable: "R"}
		}
	}
	taint := func(key string) func(*schemas.Cluster) {
		return func(c *schemas.Cluster) {
			c.Taints = []schemas.Taint{{Key: key, Effect: "NoSelect", TimeAdded: noon}}
		}
	}
	set := func(name string) func(*schemas.Cluster) {
		return func(c *schemas.Cluster) { c.Labels[clusterv1beta2.ClusterSetLabel] = name }
	}
	for name, tt := range map[string]struct {
		profile *sig.ClusterProfile
		set     string
		want    *schemas.Cluster
	}{
		"without conditions":  {profile: profile(), want: base()},
		"healthy":             {profile: profile(health("True")), want: base(condition("True"))},
		"not healthy":         {profile: profile(health("False")), want: base(condition("False"), taint(clusterv1.ManagedClusterTaintUnavailable))},
		"nobody knows":        {profile: profile(health("Unknown")), want: base(condition("Unknown"), taint(clusterv1.ManagedClusterTaintUnreachable))},
		"the inventory's set": {profile: profile(), set: "inventory", want: base(set("inventory"))},
		"its own set": {
			profile: profile(func(p *sig.ClusterProfile) { p.Labels[sig.LabelClusterSetKey] = "own" }), set: "inventory",
			want: base(set("own"), func(c *schemas.Cluster) { c.Labels[sig.LabelClusterSetKey] = "own" }),
		},
		"going": {
			profile: profile(func(p *sig.ClusterProfile) { p.DeletionTimestamp = &metav1.Time{Time: noon} }),
			want:    base(func(c *schemas.Cluster) { c.Deleting = true }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, ProfiledCluster(tt.profile, tt.set)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
