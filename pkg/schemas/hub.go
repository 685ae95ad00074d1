package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Cluster is a ManagedCluster as the bridge saw it on the hub.
type Cluster struct {
	Name   string            `json:"name"`
	UID    string            `json:"uid"`
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations are those under spokewire.dev/, and of the others, for CEL
	// selectors, the short ones up to a bound.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Omitted are the names of annotations whose values are too long.
	Omitted []string `json:"omitted,omitempty"`
	// CreatedAt is the object's creation timestamp.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// Accepted is spec.hubAcceptsClient.
	Accepted bool `json:"accepted,omitempty"`
	// LeaseSeconds is spec.leaseDurationSeconds.
	LeaseSeconds int32 `json:"leaseSeconds,omitempty"`
	// URLs are those of spec.managedClusterClientConfigs.
	URLs []string `json:"urls,omitempty"`
	// Version is that of the cluster's Kubernetes.
	Version string            `json:"version,omitempty"`
	Claims  map[string]string `json:"claims,omitempty"`
	Taints  []Taint           `json:"taints,omitempty"`
	// Allocatable and Capacity are Kubernetes quantities by resource name.
	Allocatable map[string]string `json:"allocatable,omitempty"`
	Capacity    map[string]string `json:"capacity,omitempty"`
	Conditions  map[string]string `json:"conditions,omitempty"` // type to True, False or Unknown
	// ConditionReasons are the reasons of those conditions, by type.
	ConditionReasons map[string]string `json:"conditionReasons,omitempty"`
	// Deleting is true from the moment that the cluster has a deletion
	// timestamp.
	Deleting bool `json:"deleting,omitempty"`
}

// Taint is a taint of a cluster.
type Taint struct {
	Key       string    `json:"key"`
	Value     string    `json:"value,omitempty"`
	Effect    string    `json:"effect"` // NoSelect, PreferNoSelect or NoSelectIfNew
	TimeAdded time.Time `json:"timeAdded,omitzero"`
}

// ClusterSet is a ManagedClusterSet.
type ClusterSet struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
	// SelectorType is ExclusiveClusterSetLabel or LabelSelector.
	SelectorType string `json:"selectorType"`
	// LabelSelector is a metav1.LabelSelector, for type LabelSelector.
	LabelSelector json.RawMessage `json:"labelSelector,omitempty"`
	Deleting      bool            `json:"deleting,omitempty"`
}

// Binding is a ManagedClusterSetBinding.
type Binding struct {
	Name       string `json:"name"`
	Namespace  string `json:"namespace"`
	UID        string `json:"uid"`
	ClusterSet string `json:"clusterSet"`
	Deleting   bool   `json:"deleting,omitempty"`
}

// Placement is an OCM Placement as the bridge saw it on the hub.
type Placement struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	UID         string            `json:"uid"`
	Generation  int64             `json:"generation"`
	Annotations map[string]string `json:"annotations,omitempty"` // those under spokewire.dev/ and open-cluster-management.io
	Labels      map[string]string `json:"labels,omitempty"`
	// Direct is true where OCM's own scheduling is switched off by its
	// annotation, so that Spokewire decides and writes; not in shadow.
	Direct   bool `json:"direct"`
	Deleting bool `json:"deleting,omitempty"`
	// Spec is a cluster.open-cluster-management.io/v1beta1 PlacementSpec.
	Spec json.RawMessage `json:"spec"`
}

// AnnotationMode, where it is ModeShadow, has Spokewire decide a Placement
// without writing anything, whoever else decides it.
const AnnotationMode = "spokewire.dev/mode"

// Mode is how the Placement is decided: shadow where it is annotated so,
// direct where OCM's scheduling is switched off, else native.
func (p *Placement) Mode() string {
	switch {
	case p.Annotations[AnnotationMode] == ModeShadow:
		return ModeShadow
	case p.Direct:
		return ModeDirect
	}
	return ModeNative
}

// AddOnScore is an AddOnPlacementScore that somebody else than the bridge
// wrote.
type AddOnScore struct {
	Cluster string           `json:"cluster"` // its namespace
	Name    string           `json:"name"`
	UID     string           `json:"uid"`
	Scores  map[string]int32 `json:"scores,omitempty"`
	// Order is the names of the scores in the order of the object, where that
	// is another than by name. A name that is not among them says nothing.
	Order      []string   `json:"order,omitempty"`
	ValidUntil *time.Time `json:"validUntil,omitempty"`
}

// ObservedDecision is the sum of the PlacementDecision objects of one
// Placement on the hub, whoever wrote them, in the order of their pages.
type ObservedDecision struct {
	Placement PlacementRef      `json:"placement"`
	Clusters  []ObservedCluster `json:"clusters,omitempty"`
	// Writer is ocm, spokewire or other: who owns the objects.
	Writer string `json:"writer"`
}

// ObservedCluster is one decision of a PlacementDecision object.
type ObservedCluster struct {
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"`
	Group  int    `json:"group"`
}

// Deleted is the payload of every tombstone.
type Deleted struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// UID is that of the object that is gone, where it was known.
	UID string `json:"uid,omitempty"`
	// Reason says why, for people.
	Reason string `json:"reason,omitempty"`
}

// Validate checks that the cluster has a name and sound taints.
func (c *Cluster) Validate() error {
	for i, t := range c.Taints {
		field := fmt.Sprintf("taints[%d]", i)
		if err := required(field+".key", t.Key, field+".effect", t.Effect); err != nil {
			return err
		}
	}
	return required("name", c.Name)
}

// Validate checks that the names are there.
func (s *ClusterSet) Validate() error {
	if s.LabelSelector != nil {
		if err := requireObject("labelSelector", s.LabelSelector); err != nil {
			return err
		}
	}
	return required("name", s.Name, "selectorType", s.SelectorType)
}

// Validate checks that the names are there.
func (b *Binding) Validate() error {
	return required("name", b.Name, "namespace", b.Namespace, "clusterSet", b.ClusterSet)
}

// Validate checks that the names and the spec are there. What the spec says
// is checked by who reads it.
func (p *Placement) Validate() error {
	if err := requireObject("spec", p.Spec); err != nil {
		return err
	}
	return required("name", p.Name, "namespace", p.Namespace, "uid", p.UID)
}

// Validate checks names and bounds.
func (s *AddOnScore) Validate() error {
	for _, name := range slices.Sorted(maps.Keys(s.Scores)) {
		if v := s.Scores[name]; v < MinScore || v > MaxScore {
			return fieldErrorf("scores."+name, "is %d, want %d to %d", v, MinScore, MaxScore)
		}
	}
	return required("cluster", s.Cluster, "name", s.Name)
}

// Validate checks that the names are there.
func (d *ObservedDecision) Validate() error {
	for i, c := range d.Clusters {
		if c.Name == "" {
			return fieldErrorf(fmt.Sprintf("clusters[%d].name", i), "is empty")
		}
	}
	return d.Placement.validate()
}

// Validate checks that the name is there.
func (d *Deleted) Validate() error { return required("name", d.Name) }

// required takes pairs of a field and its value.
func required(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return fieldErrorf(pairs[i], "is empty")
		}
	}
	return nil
}

// requireObject checks what is kept as it came.
func requireObject(field string, data json.RawMessage) error {
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return fieldErrorf(field, "is missing")
	case trimmed[0] != '{' || !json.Valid(data):
		return fieldErrorf(field, "is not a JSON object")
	}
	return nil
}
