package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// RequestedPlacement is the Placement that r asks for. An unknown field, one
// of the wrong type, or a name that is too long for decisions is a
// *schemas.FieldError.
func RequestedPlacement(r *schemas.PlacementRequest) (*clusterv1beta1.Placement, error) {
	if n := len(r.Metadata.Name); n > validation.LabelValueMaxLength {
		return nil, &schemas.FieldError{Field: "metadata.name", Reason: fmt.Sprintf(
			"has %d characters, and PlacementDecisions carry it as a label, which has %d at most: choose a shorter name", n, validation.LabelValueMaxLength)}
	}
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
		Name:        r.Metadata.Name,
		Namespace:   r.Metadata.Namespace,
		Labels:      marked(r.Metadata.Labels, LabelManagedBy, ManagedBy),
		Annotations: marked(r.Metadata.Annotations, AnnotationOrigin, OriginBus),
	}}
	dec := json.NewDecoder(bytes.NewReader(r.Spec))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p.Spec); err != nil {
		return nil, specError(err)
	}
	return p, nil
}

func marked(m map[string]string, key, value string) map[string]string {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]string{}
	}
	out[key] = value
	return out
}

func specError(err error) error {
	field := "spec"
	if wrong, ok := err.(*json.UnmarshalTypeError); ok && wrong.Field != "" { //nolint:errorlint // Decode returns it bare
		field += "." + wrong.Field
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		field += "." + strings.Trim(name, `"`)
	}
	return &schemas.FieldError{Field: field, Reason: fmt.Sprintf("is not as a Placement has it: %v", err)}
}

// MergeRequest lays want over have, the object on the hub, and reports
// whether labels or annotations change by that. Of those it replaces all
// that carry our domain or OCM's, and leaves the others alone. The spec is
// want's: what the API server fills in by default only it can tell.
func MergeRequest(have, want *clusterv1beta1.Placement) (merged *clusterv1beta1.Placement, changed bool) {
	merged = have.DeepCopy()
	merged.Spec = *want.Spec.DeepCopy()
	merged.Labels = overlay(have.Labels, want.Labels)
	merged.Annotations = overlay(have.Annotations, want.Annotations)
	return merged, !maps.Equal(merged.Labels, have.Labels) || !maps.Equal(merged.Annotations, have.Annotations)
}

func overlay(have, want map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range have {
		if !keptKey(key, domainSpokewire, domainOCM) {
			out[key] = value
		}
	}
	maps.Copy(out, want)
	return out
}
