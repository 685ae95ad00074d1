// Package twin lets OCM's placement controller and Spokewire decide the same
// Placements on one hub, and compares their answers.
package twin

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/difftest"
	"github.com/spokewire/spokewire/pkg/events"
)

// Hub is where both decide, with Spokewire's log of it.
type Hub struct {
	OCM  clusterclient.Interface
	Core kubernetes.Interface
	Bus  events.Getter
}

// Options of a run.
type Options struct {
	Seed  uint64
	Cases int
	// Case, if it is not negative, is the only one to run.
	Case int
	// PerFleet is the cases of a fleet, the last of which is its contest, and
	// Batch how many fleets are on the hub before answers are compared.
	PerFleet, Batch int
	Size            difftest.Size
	// Shrink bounds the rounds of making a difference smaller, 0 for none. Of
	// several differences the first two are: one is often like the other.
	Shrink int
	// Progress says how it goes, and what differs.
	Progress func(format string, args ...any)
}

// DefaultOptions are those of a long run.
func DefaultOptions() Options {
	return Options{
		Seed: 1, Cases: 1000, Case: -1, PerFleet: 10, Batch: 20, Shrink: 12,
		Size: difftest.Size{Clusters: 8, Large: 20, Shared: 10},
	}
}

// Summary is what a run has shown.
type Summary struct {
	Seed                      uint64
	Cases, Differences, Known int
	// Reasons are those of known differences, Outcomes OCM's answers by the
	// reason of PlacementSatisfied, with how many cases had them.
	Reasons, Outcomes map[string]int
	Pages             int // cases with more than one page
}

func (s Summary) String() string {
	return fmt.Sprintf("difftest: cases=%d differences=%d known=%d seed=%d", s.Cases, s.Differences, s.Known, s.Seed)
}

// kase is one Placement that OCM decides, and its copy for Spokewire.
type kase struct {
	number         int
	index          int // of its fleet in the batch
	native, direct *clusterv1beta1.Placement
	before         difftest.Answer // of the direct one
	known, differs bool
}

type run struct {
	Options
	hub     Hub
	now     time.Time
	summary Summary
	shrunk  int // differences that were made smaller
	names   int // that shrinking has used
}

// Run runs all cases.
func Run(ctx context.Context, hub Hub, o Options) (Summary, error) {
	r := &run{Options: o, hub: hub, now: time.Now(), summary: Summary{Seed: o.Seed, Reasons: map[string]int{}, Outcomes: map[string]int{}}}
	if err := createShared(ctx, hub); err != nil {
		return r.summary, err
	}
	fleets := (o.Cases + o.PerFleet - 1) / o.PerFleet
	first := 0
	if o.Case >= 0 {
		first, fleets = o.Case/o.PerFleet, o.Case/o.PerFleet+1
	}
	for ; first < fleets; first += o.Batch {
		if err := r.batch(ctx, first, min(first+o.Batch, fleets)); err != nil {
			return r.summary, fmt.Errorf("fleets from %d: %w", first, err)
		}
		r.Progress("%s", r.summary)
	}
	return r.summary, nil
}

// batch is the fleets that are compared at a time, before and after their
// change.
type batch struct {
	first         int
	before, after []difftest.Fleet
	cases         []*kase
}

func (r *run) batch(ctx context.Context, first, end int) error {
	b := batch{first: first}
	for i := first; i < end; i++ {
		f := difftest.Generate(r.Seed, i, r.Size.With(r.PerFleet-1), r.now)
		b.before, b.after = append(b.before, f), append(b.after, f.Change(r.Seed, i, r.now))
		r.addCases(&b, i)
	}
	began := time.Now()
	if err := eachFleet(ctx, b.before, func(ctx context.Context, i int) error { return createFleet(ctx, r.hub, &b.before[i]) }); err != nil {
		return err
	}
	created := time.Now()
	if err := r.compare(ctx, &b, b.before, "created"); err != nil {
		return err
	}
	if err := eachFleet(ctx, b.before, func(ctx context.Context, i int) error { return changeFleet(ctx, r.hub, &b.before[i], &b.after[i]) }); err != nil {
		return err
	}
	for _, c := range b.cases {
		c.use(&b.after[c.index])
	}
	if err := r.compare(ctx, &b, b.after, "changed"); err != nil {
		return err
	}
	changed := time.Now()
	err := r.contests(ctx, &b)
	r.count(&b)
	r.Progress("fleets %d to %d: written in %s, compared twice in %s, contests in %s", first, end-1,
		created.Sub(began).Round(time.Millisecond), changed.Sub(created).Round(time.Millisecond), time.Since(changed).Round(time.Millisecond))
	return err
}

// addCases takes those of fleet i that are to be run.
func (r *run) addCases(b *batch, i int) {
	f := &b.before[len(b.before)-1]
	after := &b.after[len(b.after)-1]
	keep := 0
	for slot, p := range f.Placements {
		number := i*r.PerFleet + slot
		if number >= r.Cases || r.Case >= 0 && number != r.Case {
			continue
		}
		f.Placements[keep], after.Placements[keep] = p, after.Placements[slot]
		keep++
		b.cases = append(b.cases, &kase{number: number, index: len(b.before) - 1, native: p, direct: difftest.Direct(p)})
	}
	f.Placements, after.Placements = f.Placements[:keep], after.Placements[:keep]
}

// use takes the Placement's new spec.
func (c *kase) use(f *difftest.Fleet) {
	for _, p := range f.Placements {
		if keyOf(p) == keyOf(c.native) {
			c.native, c.direct = p, difftest.Direct(p)
		}
	}
}

func (r *run) count(b *batch) {
	for _, c := range b.cases {
		r.summary.Cases++
		switch {
		case c.differs:
			r.summary.Differences++
		case c.known:
			r.summary.Known++
		}
	}
}
