package placement

import (
	"fmt"
	"strings"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// BenchmarkOneScore changes the score of one of 10,000 clusters and decides
// anew.
func BenchmarkOneScore(b *testing.B) {
	additive := clusterv1beta1.PrioritizerPolicy{Configurations: []clusterv1beta1.PrioritizerConfig{addOnOf("gpu", 3)}}
	spread := func(n int32) clusterv1beta1.PlacementSpec {
		s := onGPU(n)
		s.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{
			{TopologyKey: "zone", TopologyKeyType: "Label", MaxSkew: 1, WhenUnsatisfiable: "DoNotSchedule"}, {TopologyKey: "rack", TopologyKeyType: "Label", MaxSkew: 2},
		}
		return s
	}
	for name, spec := range map[string]clusterv1beta1.PlacementSpec{
		"exact/select=10":         onGPU(10),
		"exact/select=10/flap":    onGPU(10),
		"exact/select=5000/flap":  onGPU(5000),
		"additive/select=10":      {NumberOfClusters: number(10), PrioritizerPolicy: additive},
		"exact/select=all":        {PrioritizerPolicy: exact(addOnOf("gpu", 1))},
		"spread/select=10":        spread(10),
		"spread/select=5000":      spread(5000),
		"spread/select=5000/flap": spread(5000),
	} {
		b.Run(name, func(b *testing.B) {
			f := largest(b)
			r := NewRanking(place(b, spec, func(p *schemas.Placement) {
				if strings.HasSuffix(name, "flap") {
					p.Annotations = map[string]string{AnnotationDeadBand: "10", AnnotationWindow: "5m", AnnotationDwell: "10m", AnnotationBudget: "10/1h"}
				}
			}), f, nil)
			r.Refresh(start)
			d := r.Decision()
			r.SetPrior(&Prior{Decision: &d, Sequence: 1})
			r.Refresh(start)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				setGPU(f, fmt.Sprintf("spoke-%05d", i*7919%10_000), int32(i%150-100))
				r.Refresh(start.Add(time.Duration(i)))
				r.PublishAt()
			}
		})
	}
}

// BenchmarkScoreNotRead changes a score of one of 10,000 clusters that the
// Placement does not read, and brings its ranking up to date.
func BenchmarkScoreNotRead(b *testing.B) {
	f := largest(b)
	r := NewRanking(place(b, onGPU(10)), f, nil)
	r.Refresh(start)
	until, value := start.Add(time.Hour), int32(0)
	score := &schemas.Score{Scorer: "cost", ValidUntil: &until, Items: []schemas.ScoreItem{{Name: "cost", Value: &value, Reason: "Computed"}}}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		score.Cluster, value = fmt.Sprintf("spoke-%05d", i*7919%10_000), int32(i%150)
		f.SetScore(score, start, start)
		r.Refresh(start.Add(time.Duration(i)))
		r.PublishAt()
	}
}

// BenchmarkMove is a score that moves the Placement, with the decision
// written out.
func BenchmarkMove(b *testing.B) {
	f := largest(b)
	r := NewRanking(place(b, onGPU(1)), f, nil)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		setGPU(f, "spoke-00007", int32(i%2*200-100))
		r.Refresh(start)
		d := r.Decision()
		r.SetPrior(&Prior{Decision: &d, Sequence: uint64(i)})
	}
}

// BenchmarkDecide decides from nothing.
func BenchmarkDecide(b *testing.B) {
	f, p := largest(b), place(b, onGPU(10))
	b.ReportAllocs()
	for b.Loop() {
		Decide(Input{Placement: p, Fleet: f}, start)
	}
}
