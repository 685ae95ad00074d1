package rig

import (
	"fmt"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// ItemsEach is how many scores a scorer, and an AddOnPlacementScore, has at
// most.
const ItemsEach = 10

// Dimension is one score of each cluster: the name of the scorer, or of the
// AddOnPlacementScore, and that of its item. It is computed from a metric of
// 0 to Top.
type Dimension struct {
	Resource, Item, Metric string
	Top                    int
}

// Dimensions are n scores of each cluster. The first, named prefix alone, is
// computed from metric, the others from the other series of a wire.Load.
func Dimensions(prefix string, n int, metric string) []Dimension {
	out := []Dimension{{Resource: prefix, Item: prefix, Metric: metric, Top: 100}}
	for k := 1; k < n; k++ {
		d := Dimension{Resource: prefix, Metric: fmt.Sprintf("bench_series_%d", k), Top: 1000}
		if k >= ItemsEach {
			d.Resource = fmt.Sprintf("%s-%d", prefix, k/ItemsEach)
		}
		d.Item = fmt.Sprintf("series-%d", k)
		out = append(out, d)
	}
	return out
}

// ByResource groups dimensions, in their order.
func ByResource(all []Dimension) [][]Dimension {
	var out [][]Dimension
	for i, d := range all {
		if i == 0 || d.Resource != all[i-1].Resource {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], d)
	}
	return out
}

// item is the dimension as a scorer's.
func (d Dimension) item() schemas.ScorerItem {
	return schemas.ScorerItem{Name: d.Item, CEL: fmt.Sprintf("linear(metric(%q), 0, %d)", d.Metric, d.Top)}
}

// Best selects the one cluster with the best score.
func (d Dimension) Best() clusterv1beta1.PlacementSpec {
	one := int32(1)
	return clusterv1beta1.PlacementSpec{
		NumberOfClusters: &one,
		PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode: clusterv1beta1.PrioritizerPolicyModeExact,
			Configurations: []clusterv1beta1.PrioritizerConfig{{Weight: 1, ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
				Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: d.Resource, ScoreName: d.Item},
			}}},
		},
	}
}

// Scores are the items of an AddOnPlacementScore. The first of all dimensions
// has the value, the others some of their own for the i-th cluster.
func Scores(of []Dimension, i int, value int32) []clusterv1alpha1.AddOnPlacementScoreItem {
	out := make([]clusterv1alpha1.AddOnPlacementScoreItem, len(of))
	for k, d := range of {
		out[k] = clusterv1alpha1.AddOnPlacementScoreItem{Name: d.Item, Value: int32((i*(7*k+1) + k) % 100)}
		if d.Item == d.Resource {
			out[k].Value = value
		}
	}
	return out
}

// First returns those of names whose Placement asks for the first of n
// dimensions, where they take turns.
func First(names []string, n int) []string {
	var out []string
	for i := 0; i < len(names); i += n {
		out = append(out, names[i])
	}
	return out
}

// Snapshot is a metric event's samples for all dimensions: value for the
// first, zeros for the others.
func Snapshot(of []Dimension, value float64) *schemas.Metrics {
	m := &schemas.Metrics{Samples: make([]schemas.Sample, len(of))}
	for i, d := range of {
		m.Samples[i] = schemas.Sample{Name: d.Metric}
	}
	m.Samples[0].Value = value
	return m
}
