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

// Manifest is a Placement as it is to be written. Its spec is the text that
// was asked for: OCM's type leaves a weight of 0 out, and the API server then
// takes the default, 1.
type Manifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              json.RawMessage `json:"spec"`
}

// RequestedPlacement is the Placement that r asks for. An unknown field, one
// of the wrong type, or a name that is too long for decisions is a
// *schemas.FieldError.
func RequestedPlacement(r *schemas.PlacementRequest) (*Manifest, error) {
	if n := len(r.Metadata.Name); n > validation.LabelValueMaxLength {
		return nil, &schemas.FieldError{Field: "metadata.name", Reason: fmt.Sprintf(
			"has %d characters, and PlacementDecisions carry it as a label, which has %d at most: choose a shorter name", n, validation.LabelValueMaxLength)}
	}
	dec := json.NewDecoder(bytes.NewReader(r.Spec))
	dec.DisallowUnknownFields()
	if err := dec.Decode(new(clusterv1beta1.PlacementSpec)); err != nil {
		return nil, specError(err)
	}
	return newManifest(r.Spec, metav1.ObjectMeta{
		Name:        r.Metadata.Name,
		Namespace:   r.Metadata.Namespace,
		Labels:      marked(r.Metadata.Labels, LabelManagedBy, ManagedBy),
		Annotations: marked(r.Metadata.Annotations, AnnotationOrigin, OriginBus),
	}), nil
}

func newManifest(spec json.RawMessage, meta metav1.ObjectMeta) *Manifest {
	return &Manifest{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1beta1.GroupVersion.String(), Kind: schemas.PlacementKind},
		ObjectMeta: meta, Spec: spec,
	}
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
func MergeRequest(have *clusterv1beta1.Placement, want *Manifest) (merged *Manifest, changed bool) {
	merged = newManifest(want.Spec, *have.ObjectMeta.DeepCopy())
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
