package expression

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/spokewire/spokewire/internal/bridge"
)

var noon = metav1.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// fullCluster has something in every field of a ManagedCluster.
func fullCluster() *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: "spoke-1", UID: "u-1", ResourceVersion: "5", Generation: 2, CreationTimestamp: noon, Finalizers: []string{"f"},
			Labels:        map[string]string{"region": "eu", "example.com/gpu": "true"},
			Annotations:   map[string]string{"example.com/sizes": `{"gpu": [1, 2.5]}`, "spokewire.dev/x": "y"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}, OwnerReferences: []metav1.OwnerReference{{Name: "o"}},
		},
		Spec: clusterv1.ManagedClusterSpec{
			HubAcceptsClient: true, LeaseDurationSeconds: 60,
			ManagedClusterClientConfigs: []clusterv1.ClientConfig{{URL: "https://b:6443", CABundle: []byte("ca")}, {URL: "https://a:6443"}},
			Taints:                      []clusterv1.Taint{{Key: "b", Effect: "NoSelect", TimeAdded: noon}, {Key: "a", Value: "v", Effect: "PreferNoSelect"}},
		},
		Status: clusterv1.ManagedClusterStatus{
			Conditions:        []metav1.Condition{{Type: "A", Status: "True", Reason: "Ok", Message: "m", ObservedGeneration: 1, LastTransitionTime: noon}, {Type: "B", Status: "False", Reason: "No", LastTransitionTime: noon}},
			Capacity:          clusterv1.ResourceList{"cpu": resource.MustParse("8000m"), "memory": resource.MustParse("32Gi")},
			Allocatable:       clusterv1.ResourceList{"cpu": resource.MustParse("7.5")},
			Version:           clusterv1.ManagedClusterVersion{Kubernetes: "v1.37.2"},
			ClusterClaims:     []clusterv1.ManagedClusterClaim{{Name: "empty"}, {Name: "zone", Value: "z1"}},
			ManagedNamespaces: []clusterv1.ClusterSetManagedNamespaceConfig{{ClusterSet: "s"}},
		},
	}
}

// TestClusterIsWhatTheHubHas compares what expressions see with the object as
// OCM turns it into a map, less what is not carried.
func TestClusterIsWhatTheHubHas(t *testing.T) {
	bare := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}
	bare.Status.Conditions = []metav1.Condition{}
	for name, c := range map[string]*clusterv1.ManagedCluster{"full": fullCluster(), "bare": bare} {
		t.Run(name, func(t *testing.T) {
			object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range notCarried {
				drop(object, strings.Split(path, "."))
			}
			want, got := plain(t, object), plain(t, NewCluster(bridge.Cluster(c)).value.Value())
			if name == "bare" { // an object from the API server has a UID
				delete(got.(map[string]any)["metadata"].(map[string]any), "uid")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-hub +expressions):\n%s", diff)
			}
		})
	}
}

func drop(object map[string]any, path []string) {
	key, isList := strings.CutSuffix(path[0], "[]")
	if len(path) == 1 {
		delete(object, key)
		return
	}
	if !isList {
		if inner, ok := object[key].(map[string]any); ok {
			drop(inner, path[1:])
		}
		return
	}
	list, _ := object[key].([]any)
	for _, element := range list {
		drop(element.(map[string]any), path[1:])
	}
}

func plain(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
