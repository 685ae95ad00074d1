package hublook

import (
	"context"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/spokewire/spokewire/internal/checkup"
)

// leaseName is that of the bridge's Lease, in whatever namespace.
const leaseName = "spokewire-hub-bridge"

// leases reads who holds the bridge's Lease of each namespace.
func leases(ctx context.Context, client kubernetes.Interface, now time.Time) ([]checkup.Lease, error) {
	list, err := client.CoordinationV1().Leases(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + leaseName})
	if err != nil {
		return nil, err
	}
	var out []checkup.Lease
	for i := range list.Items {
		l := checkup.Lease{Namespace: list.Items[i].Namespace}
		spec := list.Items[i].Spec
		if spec.HolderIdentity != nil {
			l.Holder = *spec.HolderIdentity
		}
		if spec.RenewTime != nil {
			l.Age = max(0, now.Sub(spec.RenewTime.Time))
		}
		out = append(out, l)
	}
	return out, nil
}

// hasAny reports whether one of OCM's resources is known to have an object.
func hasAny(ctx context.Context, client kubernetes.Interface, version, resource string) bool {
	var list metav1.PartialObjectMetadataList
	raw, err := client.Discovery().RESTClient().Get().AbsPath("/apis", group, version, resource).Param("limit", "1").DoRaw(ctx)
	return err == nil && json.Unmarshal(raw, &list) == nil && len(list.Items) > 0
}
