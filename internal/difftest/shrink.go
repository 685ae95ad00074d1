package difftest

import (
	"encoding/json"
	"fmt"
	"strings"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// Only is the fleet with that Placement alone.
func (f *Fleet) Only(p *clusterv1beta1.Placement) Fleet {
	out := *f
	out.Placements = []*clusterv1beta1.Placement{p}
	return out
}

// Renamed is a copy of the fleet under another name of the same length, so
// that all orders by name stay.
func (f *Fleet) Renamed(name string) (Fleet, error) {
	var out Fleet
	raw, err := json.Marshal(f)
	if err == nil {
		err = json.Unmarshal([]byte(strings.ReplaceAll(string(raw), f.Name, name)), &out)
	}
	if err != nil {
		return out, fmt.Errorf("fleet %s: %w", f.Name, err)
	}
	return out, nil
}

// Reductions are the fleets that have one thing less than f, which has one
// Placement: the larger steps come first.
func (f *Fleet) Reductions() []Fleet {
	var out []Fleet
	half := len(f.Clusters) / 2
	for _, keep := range [][]*clusterv1.ManagedCluster{f.Clusters[:half], f.Clusters[half:]} {
		if half > 1 {
			out = append(out, f.with(keep))
		}
	}
	if n := len(f.Clusters); n > 1 && n <= 12 {
		for i := range f.Clusters {
			out = append(out, f.with(without(f.Clusters, i)))
		}
	}
	out = append(out, f.fewerSets()...)
	for _, reduce := range placementReductions(f.Placements[0]) {
		out = append(out, f.Only(reduce))
	}
	return append(out, f.plainerClusters()...)
}

func without[T any](list []T, i int) []T {
	return append(append([]T{}, list[:i]...), list[i+1:]...)
}

// with keeps those clusters, and their scores.
func (f *Fleet) with(clusters []*clusterv1.ManagedCluster) Fleet {
	out, kept := *f, map[string]bool{}
	for _, c := range clusters {
		kept[c.Name] = true
	}
	out.Clusters, out.Scores = clusters, nil
	for _, s := range f.Scores {
		if kept[s.Namespace] {
			out.Scores = append(out.Scores, s)
		}
	}
	return out
}

func (f *Fleet) fewerSets() []Fleet {
	var out []Fleet
	for i, s := range f.Sets {
		less := *f
		less.Sets, less.Bindings = without(f.Sets, i), nil
		for _, b := range f.Bindings {
			if b.Name != s.Name {
				less.Bindings = append(less.Bindings, b)
			}
		}
		out = append(out, less)
	}
	for i := range f.Bindings {
		less := *f
		less.Bindings = without(f.Bindings, i)
		out = append(out, less)
	}
	return out
}

// plainerClusters are fleets whose clusters all lack one kind of detail.
func (f *Fleet) plainerClusters() []Fleet {
	var out []Fleet
	for _, plain := range []func(*clusterv1.ManagedCluster) bool{
		func(c *clusterv1.ManagedCluster) bool { had := len(c.Spec.Taints) > 0; c.Spec.Taints = nil; return had },
		func(c *clusterv1.ManagedCluster) bool {
			had := len(c.Status.ClusterClaims) > 0
			c.Status.ClusterClaims = nil
			return had
		},
		func(c *clusterv1.ManagedCluster) bool { had := len(c.Annotations) > 0; c.Annotations = nil; return had },
		func(c *clusterv1.ManagedCluster) bool {
			had := len(c.Status.Allocatable)+len(c.Status.Capacity) > 0
			c.Status.Allocatable, c.Status.Capacity = nil, nil
			return had
		},
		func(c *clusterv1.ManagedCluster) bool {
			had := len(c.Labels) > 2
			c.Labels = map[string]string{LabelFleet: c.Labels[LabelFleet], clusterv1beta2.ClusterSetLabel: c.Labels[clusterv1beta2.ClusterSetLabel]}
			return had
		},
	} {
		less, changed := *f, false
		less.Clusters = nil
		for _, c := range f.Clusters {
			c = c.DeepCopy()
			changed = plain(c) || changed
			less.Clusters = append(less.Clusters, c)
		}
		if changed {
			out = append(out, less)
		}
	}
	if len(f.Scores) > 0 {
		less := *f
		less.Scores = nil
		out = append(out, less)
	}
	return out
}

// placementReductions are p without one of what its lists have.
func placementReductions(p *clusterv1beta1.Placement) []*clusterv1beta1.Placement {
	var out []*clusterv1beta1.Placement
	less := func(change func(*clusterv1beta1.PlacementSpec)) {
		reduced := p.DeepCopy()
		change(&reduced.Spec)
		out = append(out, reduced)
	}
	for i := range p.Spec.Predicates {
		less(func(s *clusterv1beta1.PlacementSpec) { s.Predicates = without(s.Predicates, i) })
		for j := range p.Spec.Predicates[i].RequiredClusterSelector.CelSelector.CelExpressions {
			less(func(s *clusterv1beta1.PlacementSpec) {
				c := &s.Predicates[i].RequiredClusterSelector.CelSelector
				c.CelExpressions = without(c.CelExpressions, j)
			})
		}
	}
	for i := range p.Spec.Tolerations {
		less(func(s *clusterv1beta1.PlacementSpec) { s.Tolerations = without(s.Tolerations, i) })
	}
	for i := range p.Spec.PrioritizerPolicy.Configurations {
		less(func(s *clusterv1beta1.PlacementSpec) {
			s.PrioritizerPolicy.Configurations = without(s.PrioritizerPolicy.Configurations, i)
		})
	}
	for i := range p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups {
		less(func(s *clusterv1beta1.PlacementSpec) {
			g := &s.DecisionStrategy.GroupStrategy
			g.DecisionGroups = without(g.DecisionGroups, i)
		})
	}
	if len(p.Spec.ClusterSets) > 0 {
		less(func(s *clusterv1beta1.PlacementSpec) { s.ClusterSets = nil })
	}
	if p.Spec.NumberOfClusters != nil {
		less(func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = nil })
	}
	return out
}

// Shrink makes f, which has one Placement whose answers differ, as small as
// it gets in so many rounds while they still do. differ says which of some
// fleets have answers that differ.
func Shrink(f Fleet, rounds int, differ func([]Fleet) ([]bool, error)) (Fleet, error) {
	for range rounds {
		smaller := f.Reductions()
		verdicts, err := differ(smaller)
		if err != nil {
			return f, err
		}
		next := -1
		for i, yes := range verdicts {
			if yes {
				next = i
				break
			}
		}
		if next < 0 {
			return f, nil
		}
		f = smaller[next]
	}
	return f, nil
}
