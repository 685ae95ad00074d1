// Package decide measures the deciding core alone: what one changed score
// costs for one Placement.
package decide

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/internal/bound"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Options of a run.
type Options struct {
	// Clusters of the fleet; a tenth of it is measured beside, to see whether
	// the cost grows.
	Clusters int
	// Samples is how often each case is measured, about a second each.
	Samples int
}

// DefaultOptions are those of the target.
func DefaultOptions() Options { return Options{Clusters: 10_000, Samples: 5} }

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.Clusters, "clusters", o.Clusters, "clusters of the fleet; a tenth as many are measured too")
	fs.IntVar(&o.Samples, "samples", o.Samples, "how often each case is measured")
}

// Validate names the flag that is wrong.
func (o Options) Validate() error {
	return cmp.Or(bound.AtLeast("--clusters", o.Clusters, 100), bound.AtLeast("--samples", o.Samples, 1))
}

// most is the target: 100 µs a Placement.
const most = 100_000

// selects are the cases: how many clusters the Placement asks for, 0 for all.
func selects() []int32 { return []int32{1, 10, 0} }

// Run measures.
func Run(ctx context.Context, env rig.Env, o Options) (bench.Result, error) {
	out := bench.Result{
		Title: fmt.Sprintf("Decide one Placement after one changed score, %d clusters", o.Clusters),
		About: []string{"In memory, without the bus: one of the clusters gets another score, the Placement's ranking is brought up to date and says whether its decision changed. Allocations must not grow with the fleet."},
	}
	for _, n := range selects() {
		for _, clusters := range []int{o.Clusters / 10, o.Clusters} {
			target := bench.AtMost(most)
			if clusters != o.Clusters {
				target = nil
			}
			name := fmt.Sprintf("%d of %d clusters", n, clusters)
			if n == 0 {
				name = fmt.Sprintf("all of %d clusters", clusters)
			}
			fmt.Fprintf(env.Progress, "measuring %s\n", name)
			took, allocs, bytes, err := samples(ctx, clusters, n, o.Samples)
			if err != nil {
				return bench.Result{}, err
			}
			out.Add(name, bench.Nanoseconds, target, took...)
			out.Add(name+": allocations", bench.Count, nil, allocs...)
			out.Add(name+": allocated", "B", nil, bytes...)
		}
	}
	return out, nil
}

func samples(ctx context.Context, clusters int, selected int32, n int) (took, allocs, bytes []float64, err error) {
	for range n {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		c, err := newCase(clusters, selected)
		if err != nil {
			return nil, nil, nil, err
		}
		r := testing.Benchmark(c.run)
		took = append(took, float64(r.T.Nanoseconds())/float64(r.N))
		allocs, bytes = append(allocs, float64(r.AllocsPerOp())), append(bytes, float64(r.AllocedBytesPerOp()))
	}
	return took, allocs, bytes, nil
}

// scorer is the score that the Placement reads.
const scorer = "gpu"

// one is a fleet and a Placement that was decided.
type one struct {
	fleet   *placement.Fleet
	ranking *placement.Ranking
	scores  []*schemas.Score
	now     time.Time
}

func newCase(clusters int, selected int32) (*one, error) {
	c := &one{fleet: placement.NewFleet(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if err := c.fleet.SetClusterSet(&schemas.ClusterSet{Name: "default", SelectorType: "ExclusiveClusterSetLabel"}); err != nil {
		return nil, err
	}
	c.fleet.SetBinding(&schemas.Binding{Name: "default", Namespace: "default", ClusterSet: "default"})
	for i := range clusters {
		name := fmt.Sprintf("spoke-%05d", i)
		c.fleet.SetCluster(&schemas.Cluster{Name: name, Labels: map[string]string{"cluster.open-cluster-management.io/clusterset": "default"}})
		c.scores = append(c.scores, c.score(name))
		c.set(i, int32(i%201-100))
	}
	p, err := parse(selected)
	if err != nil {
		return nil, err
	}
	c.ranking = placement.NewRanking(p, c.fleet, nil)
	c.ranking.Refresh(c.now)
	d := c.ranking.Decision()
	c.ranking.SetPrior(&placement.Prior{Decision: &d, Sequence: 1})
	c.ranking.Refresh(c.now)
	return c, nil
}

func (c *one) score(cluster string) *schemas.Score {
	until := c.now.Add(time.Hour)
	return &schemas.Score{Cluster: cluster, Scorer: scorer, ValidUntil: &until, Items: []schemas.ScoreItem{{Name: scorer, Reason: "Computed"}}}
}

func (c *one) set(i int, value int32) {
	c.scores[i].Items[0].Value = &value
	c.fleet.SetScore(c.scores[i], c.now, c.now)
}

func parse(selected int32) (*placement.Placement, error) {
	spec := rig.Dimensions(scorer, 1, "")[0].Best()
	spec.NumberOfClusters = &selected
	if selected == 0 {
		spec.NumberOfClusters = nil
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	return placement.Parse(schemas.Placement{Name: "p", Namespace: "default", UID: "uid", Generation: 1, Direct: true, Spec: raw})
}

func (c *one) run(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.set(i*7919%len(c.scores), int32(i%150-100))
		c.ranking.Refresh(c.now)
		c.ranking.PublishAt()
	}
}
