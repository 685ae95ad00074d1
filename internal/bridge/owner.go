package bridge

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Marks on the objects that the bridge writes.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	ManagedBy      = "spokewire"
	// AnnotationOrigin says where a Placement was asked for first: one with
	// the value OriginBus is owned by the bus.
	AnnotationOrigin = "spokewire.dev/origin"
	OriginBus        = "bus"
)

// The scheduler of a placement decision, and the writer of observed ones.
const (
	SchedulerSpokewire = "spokewire"
	SchedulerOCM       = "ocm"
	WriterOther        = "other"
)

// Ours reports whether o carries the bridge's label.
func Ours(o metav1.Object) bool { return o.GetLabels()[LabelManagedBy] == ManagedBy }

// FromBus reports whether p carries the marks of one that was born on the bus.
func FromBus(p *clusterv1beta1.Placement) bool {
	return Ours(p) && p.Annotations[AnnotationOrigin] == OriginBus
}

// WroteSpec reports whether manager wrote to p's spec or metadata, by the
// managed fields that the API server keeps.
func WroteSpec(p *clusterv1beta1.Placement, manager string) bool {
	return slices.ContainsFunc(p.ManagedFields, func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager == manager && f.Subresource == ""
	})
}

// Direct reports whether Spokewire decides p: OCM's own scheduling is switched
// off, and p is not in shadow, of which nothing is ever written.
func Direct(p *clusterv1beta1.Placement) bool {
	return p.Annotations[clusterv1beta1.PlacementDisableAnnotation] == "true" && p.Annotations[schemas.AnnotationMode] != schemas.ModeShadow
}

// ownerUID is the UID of the Placement called placement that controls o, or
// "" where another object, or none, does.
func ownerUID(o metav1.Object, placement string) types.UID {
	ref := metav1.GetControllerOf(o)
	if ref == nil || ref.Kind != "Placement" || ref.Name != placement {
		return ""
	}
	if group, _, _ := strings.Cut(ref.APIVersion, "/"); group != clusterv1beta1.GroupName {
		return ""
	}
	return ref.UID
}

// kept are the domains of annotations and labels that a decision can depend
// on.
func keptKey(key string, domains ...string) bool {
	domain, _, _ := strings.Cut(key, "/")
	for _, d := range domains {
		if domain == d || strings.HasSuffix(domain, "."+d) {
			return true
		}
	}
	return false
}

const (
	domainSpokewire = "spokewire.dev"
	domainOCM       = "open-cluster-management.io"
)

func keep(all map[string]string, domains ...string) map[string]string {
	var out map[string]string
	for key, value := range all {
		if !keptKey(key, domains...) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = value
	}
	return out
}
