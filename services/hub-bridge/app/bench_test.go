package app_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/services/hub-bridge/app"
)

// BenchmarkMove moves 100 Placements, ten clusters each, at once: from the
// first decision's publish until a watch of the hub has shown all of them.
func BenchmarkMove(b *testing.B) {
	const placements = 100
	for _, run := range []struct {
		workers int
		budget  float64
	}{{8, 20}, {16, 20}, {32, 20}, {16, 0.001}} {
		b.Run(fmt.Sprintf("%d workers, %g explanations a second", run.workers, run.budget), func(b *testing.B) {
			e := start(b, func(o *app.Options) {
				o.Workers, o.QPS, o.Burst, o.ExplanationBudget = run.workers, 5000, 10000, run.budget
			})
			var all []*clusterv1beta1.Placement
			for i := range placements {
				all = append(all, e.placement(fmt.Sprintf("p%03d", i), true))
			}
			round := 0
			decide := func() {
				for _, p := range all {
					names := []string{fmt.Sprintf("m%d", round)}
					for c := range 9 {
						names = append(names, fmt.Sprintf("c%d", c))
					}
					d := decision(p, names...)
					d.Cause, d.Added = placement.CauseScoreChanged, names[:1]
					e.decide(d)
				}
			}
			shown := e.follow(b)
			wait := func() (each []time.Duration) {
				begin := time.Now()
				decide()
				left := map[string]bool{}
				for _, p := range all {
					left[p.Name] = true
				}
				for len(left) > 0 {
					select {
					case page := <-shown:
						name := page.Labels[clusterv1beta1.PlacementLabel]
						if left[name] && slices.ContainsFunc(page.Status.Decisions, func(d clusterv1beta1.ClusterDecision) bool {
							return d.ClusterName == fmt.Sprintf("m%d", round)
						}) {
							delete(left, name)
							each = append(each, time.Since(begin))
						}
					case <-time.After(patience):
						b.Fatalf("%d Placements have not moved", len(left))
					}
				}
				return each
			}
			wait()
			e.calls.take()
			var first, all100 []time.Duration
			for b.Loop() {
				round++
				each := wait()
				first, all100 = append(first, each[0]), append(all100, each[len(each)-1])
			}
			b.ReportMetric(float64(len(e.calls.take()))/float64(b.N)/placements, "writes/move")
			b.ReportMetric(millis(first), "first-p50-ms")
			b.ReportMetric(millis(all100), "all-p50-ms")
			b.ReportMetric(placements*float64(b.N)/b.Elapsed().Seconds(), "moves/s")
		})
	}
}

func millis(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2].Microseconds()) / 1000
}

// follow watches the PlacementDecisions of the test's namespace.
func (e *env) follow(b *testing.B) <-chan *clusterv1beta1.PlacementDecision {
	b.Helper()
	w, err := e.hub.ClusterV1beta1().PlacementDecisions(e.ns).Watch(b.Context(), metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.Stop)
	out := make(chan *clusterv1beta1.PlacementDecision, 4096)
	go func() {
		for event := range w.ResultChan() {
			if page, ok := event.Object.(*clusterv1beta1.PlacementDecision); ok && event.Type != watch.Deleted {
				out <- page
			}
		}
	}()
	return out
}

// BenchmarkStatusWrites is what BenchmarkMove can be at best: the same status
// writes by bare clients, without a decision, a plan or a receipt, with and
// without managed fields.
func BenchmarkStatusWrites(b *testing.B) {
	const placements, clients = 100, 16
	e := start(b, func(o *app.Options) { o.QPS, o.Burst = 5000, 10000 })
	all := make([]*clusterv1beta1.PlacementDecision, placements)
	for i := range all {
		p := e.placement(fmt.Sprintf("p%03d", i), false)
		e.ocmPage(p, "a")
		all[i] = &e.pages(p.Name)[0]
	}
	pages := e.hub.ClusterV1beta1().PlacementDecisions(e.ns)
	each := func(change func(page *clusterv1beta1.PlacementDecision) (*clusterv1beta1.PlacementDecision, error)) {
		var group errgroup.Group
		group.SetLimit(clients)
		for i, page := range all {
			group.Go(func() (err error) {
				all[i], err = change(page)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	round := 0
	writes := func(b *testing.B) {
		for b.Loop() {
			round++
			each(func(page *clusterv1beta1.PlacementDecision) (*clusterv1beta1.PlacementDecision, error) {
				page.Status.Decisions = nil
				for c := range 10 {
					page.Status.Decisions = append(page.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("c%d-%d", round, c)})
				}
				return pages.UpdateStatus(b.Context(), page, metav1.UpdateOptions{})
			})
		}
		b.ReportMetric(placements*float64(b.N)/b.Elapsed().Seconds(), "writes/s")
	}
	b.Run("managed fields", writes)
	each(func(page *clusterv1beta1.PlacementDecision) (*clusterv1beta1.PlacementDecision, error) {
		page.ManagedFields = []metav1.ManagedFieldsEntry{{}}
		return pages.Update(b.Context(), page, metav1.UpdateOptions{})
	})
	b.Run("none", writes)
}
