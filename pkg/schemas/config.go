package schemas

import (
	"encoding/json"
	"fmt"
	"strings"
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
	// By makes an item of CEL for each value of a label, named
	// SCORER/VALUE.
	By string `json:"by,omitempty"`
	// Limit is how many values of By are scored at most: 1 to 256, default
	// 16. Where there are more, none is.
	Limit int `json:"limit,omitempty"`
	// Items are the expressions of a scorer of several dimensions.
	Items []ScorerItem `json:"items,omitempty"`
	// ValidFor is how long a sample, and the score computed from it, holds:
	// more than 0. Default 60s.
	ValidFor *Duration `json:"validFor,omitempty"`
	// Hub false keeps the scores off the hub. Default true.
	Hub *bool `json:"hub,omitempty"`
}

// ScorerItem is one dimension, or one for each value of a label.
type ScorerItem struct {
	Name string `json:"name"`
	CEL  string `json:"cel"`
	// By makes an item for each value of a label, named NAME/VALUE.
	By string `json:"by,omitempty"`
	// Limit is how many values of By are scored at most: 1 to 256, default
	// 16. Where there are more, none is.
	Limit int `json:"limit,omitempty"`
}

// DefaultByLimit is how many values of a label are scored where the scorer
// does not say.
const DefaultByLimit = 16

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
	if err := s.Spec.checkBy(); err != nil {
		return err
	}
	return s.Spec.checkItems()
}

// checkBy checks what goes with spec.cel.
func (s *ScorerSpec) checkBy() error {
	if s.By != "" && s.CEL == "" {
		return fieldErrorf("spec.by", "goes with spec.cel: set it in an item")
	}
	_, err := checkBy("spec.", s.By, s.Limit)
	return err
}

func (s *ScorerSpec) checkItems() error {
	seen, total := map[string]bool{}, 0
	for i, item := range s.Items {
		field := fmt.Sprintf("spec.items[%d]", i)
		if err := required(field+".name", item.Name, field+".cel", item.CEL); err != nil {
			return err
		}
		if seen[item.Name] {
			return fieldErrorf(field+".name", "repeats %q", item.Name)
		}
		seen[item.Name] = true
		n, err := checkBy(field+".", item.By, item.Limit)
		if err != nil {
			return err
		}
		if total += n; total > MaxScoreItems {
			return fieldErrorf(field+".limit", "makes up to %d items of all that there are, at most %d are taken", total, MaxScoreItems)
		}
	}
	return s.checkOverlap()
}

// checkBy checks a label and the limit of its values, and returns of how many
// items they can be.
func checkBy(prefix, by string, limit int) (int, error) {
	switch {
	case by == "" && limit != 0:
		return 0, fieldErrorf(prefix+"limit", "goes with by, which is empty")
	case by == "":
		return 1, nil
	case limit == 0:
		limit = DefaultByLimit
	}
	if reason := CheckLabel(by, ""); reason != "" {
		return 0, fieldErrorf(prefix+"by", "%s", reason)
	}
	if limit < 1 || limit > MaxScoreItems {
		return 0, fieldErrorf(prefix+"limit", "is %d, want 1 to %d", limit, MaxScoreItems)
	}
	return limit, nil
}

// checkOverlap refuses a name that an item by a label might take.
func (s *ScorerSpec) checkOverlap() error {
	for _, of := range s.Items {
		for i, item := range s.Items {
			if of.By != "" && strings.HasPrefix(item.Name, of.Name+"/") {
				return fieldErrorf(fmt.Sprintf("spec.items[%d].name", i), "is %q, which may be an item of %q by its label %s", item.Name, of.Name, of.By)
			}
		}
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
