package schemas

import (
	"encoding/json"
	"fmt"
)

// API versions and kinds of what users apply over the bus.
const (
	ScorerAPIVersion    = "spokewire.dev/v1alpha1"
	ScorerKind          = "Scorer"
	PlacementAPIVersion = "cluster.open-cluster-management.io/v1beta1"
	PlacementKind       = "Placement"
)

// Metadata is the part of a Kubernetes object's metadata that a user writes.
type Metadata struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Scorer asks for scores of every cluster, computed from its metrics, labels
// and claims.
type Scorer struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   Metadata   `json:"metadata"`
	Spec       ScorerSpec `json:"spec"`
}

// ScorerSpec says how to score. Either CEL or Items is set.
type ScorerSpec struct {
	// CEL is the expression of the one item that is named like the scorer.
	CEL string `json:"cel,omitempty"`
	// Items are the expressions of a scorer of several dimensions.
	Items []ScorerItem `json:"items,omitempty"`
	// ValidFor is how long a sample, and the score computed from it, holds:
	// more than 0. Default 60s.
	ValidFor *Duration `json:"validFor,omitempty"`
	// Hub false keeps the scores off the hub. Default true.
	Hub *bool `json:"hub,omitempty"`
}

// ScorerItem is one dimension.
type ScorerItem struct {
	Name string `json:"name"`
	CEL  string `json:"cel"`
}

// PlacementRequest asks for an OCM Placement over the bus. The bridge creates
// it on the hub.
type PlacementRequest struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	// Spec is a cluster.open-cluster-management.io/v1beta1 PlacementSpec.
	Spec json.RawMessage `json:"spec"`
}

// Validate checks the frame; the expressions are compiled by the scorer and
// by apply.
func (s *Scorer) Validate() error {
	if err := checkKind(s.APIVersion, s.Kind, ScorerAPIVersion, ScorerKind); err != nil {
		return err
	}
	if err := required("metadata.name", s.Metadata.Name); err != nil {
		return err
	}
	switch spec := s.Spec; {
	case spec.CEL == "" && len(spec.Items) == 0:
		return fieldErrorf("spec.cel", "is empty: write an expression, for instance linear(metric(\"gpu_free\"), 0, 8)")
	case spec.CEL != "" && len(spec.Items) > 0:
		return fieldErrorf("spec.items", "and spec.cel are both set, want one")
	case len(spec.Items) > MaxScoreItems:
		return fieldErrorf("spec.items", "has %d items, at most %d are taken", len(spec.Items), MaxScoreItems)
	case spec.ValidFor != nil && *spec.ValidFor <= 0:
		return fieldErrorf("spec.validFor", "is %s, want more than 0 (leave it out for the default)", spec.ValidFor)
	}
	seen := map[string]bool{}
	for i, item := range s.Spec.Items {
		field := fmt.Sprintf("spec.items[%d]", i)
		if err := required(field+".name", item.Name, field+".cel", item.CEL); err != nil {
			return err
		}
		if seen[item.Name] {
			return fieldErrorf(field+".name", "repeats %q", item.Name)
		}
		seen[item.Name] = true
	}
	return nil
}

// Validate checks the frame; the API server checks the spec.
func (p *PlacementRequest) Validate() error {
	if err := checkKind(p.APIVersion, p.Kind, PlacementAPIVersion, PlacementKind); err != nil {
		return err
	}
	if err := requireObject("spec", p.Spec); err != nil {
		return err
	}
	return required("metadata.name", p.Metadata.Name, "metadata.namespace", p.Metadata.Namespace)
}

func checkKind(apiVersion, kind, wantVersion, wantKind string) error {
	switch {
	case apiVersion != wantVersion:
		return fieldErrorf("apiVersion", "is %q, want %q", apiVersion, wantVersion)
	case kind != wantKind:
		return fieldErrorf("kind", "is %q, want %q", kind, wantKind)
	}
	return nil
}
