package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// handover is a hub with OCM's own placement controller, and two sets of
// clusters, each bound in the namespace of its name: few, which a scorer of
// that name scores, and many, which take three pages.
type handover struct {
	hub   hubClients
	bus   *jetstream.Bus
	stack *stack.Stack
}

const (
	few, many      = "few", "many"
	fewSize        = 12
	manySize       = 230
	handoverWithin = 30 * time.Second
)

// TestHandover gives Placements from OCM's real controller to Spokewire and
// back. All that the bridge says to the API server, and hears of it, is late
// by a random while.
func TestHandover(t *testing.T) {
	t.Parallel()
	s := startStack(t, func(o *stack.Options) {
		o.Spokes, o.OCM = 0, true
		o.Detours.Hub = func(kubeconfig string) (string, error) { return lateHub(t, kubeconfig, 25*time.Millisecond) }
	})
	h := handover{hub: hubOf(t, s), bus: operator(t, s), stack: s}
	h.prepare(t)
	t.Run("three pages are adopted and given back", h.pagesStay)
	t.Run("through shadow in any order", h.throughShadow)
	t.Run("what OCM selected counts as selected before", h.selectionCounts)
	t.Run("flips in a loop, while clusters move", h.flips)
	t.Run("what Spokewire decided stays without it", h.staysWithoutUs)
}

func (h handover) pagesStay(t *testing.T) {
	h.place(t, many, "all", clusterv1beta1.PlacementSpec{})
	h.place(t, many, "tied", clusterv1beta1.PlacementSpec{NumberOfClusters: new(int32(150))})
	all := membersOf(many, 0, manySize)
	h.decided(t, many, "all", bridge.SchedulerOCM, all)
	testwait.Within(t, handoverWithin, func() string {
		if d, err := h.last(t.Context(), many, "tied"); err != nil || len(d.Clusters) != 150 {
			return fmt.Sprintf("OCM has not decided tied: %v", err)
		}
		return ""
	})
	tied, err := h.last(t.Context(), many, "tied")
	must(t, err)
	for name, want := range map[string][]string{"all": all, "tied": namesOf(tied)} {
		before := h.holdings(t, many, name)
		r := h.read(t, many, name, func(got []string) string {
			if !slices.Equal(got, want) {
				return fmt.Sprintf("%d clusters, want the %d of before and after", len(got), len(want))
			}
			return ""
		})
		must(t, h.annotate(t.Context(), many, name, direct(nil)))
		d := h.decided(t, many, name, bridge.SchedulerSpokewire, want)
		if len(d.Added)+len(d.Removed) > 0 {
			t.Errorf("the first direct decision of %s adds %v and removes %v", name, d.Added, d.Removed)
		}
		same(t, "after "+name+" became direct", before, h.holdings(t, many, name))
		must(t, h.annotate(t.Context(), many, name, nil))
		h.decided(t, many, name, bridge.SchedulerOCM, want)
		same(t, "after "+name+" became native", before, h.holdings(t, many, name))
		r.stop(t)
	}
}

// throughShadow goes from each way in which a Placement is decided to each
// other one: OCM's clusters of a tie stay, on the pages where they are.
func (h handover) throughShadow(t *testing.T) {
	const name = "walked"
	h.place(t, many, name, clusterv1beta1.PlacementSpec{NumberOfClusters: new(int32(110))})
	testwait.Within(t, handoverWithin, func() string {
		if d, err := h.last(t.Context(), many, name); err != nil || len(d.Clusters) != 110 {
			return fmt.Sprintf("OCM has not decided %s: %v", name, err)
		}
		return ""
	})
	first, err := h.last(t.Context(), many, name)
	must(t, err)
	want := namesOf(first)
	before := h.holdings(t, many, name)
	r := h.read(t, many, name, func(got []string) string {
		if !slices.Equal(got, want) {
			return fmt.Sprintf("%d clusters, want the %d of before and after", len(got), len(want))
		}
		return ""
	})
	shadow := map[string]string{schemas.AnnotationMode: schemas.ModeShadow}
	for _, step := range []struct {
		annotations map[string]string
		scheduler   string
	}{
		{shadow, bridge.SchedulerOCM},
		{direct(nil), bridge.SchedulerSpokewire},
		{nil, bridge.SchedulerOCM},
		{direct(nil), bridge.SchedulerSpokewire},
		{direct(shadow), bridge.SchedulerOCM}, // nobody writes; what the hub has is said as before
		{shadow, bridge.SchedulerOCM},
		{nil, bridge.SchedulerOCM},
	} {
		must(t, h.annotate(t.Context(), many, name, step.annotations))
		h.decided(t, many, name, step.scheduler, want)
		h.shadowed(t, many, name, step.annotations[schemas.AnnotationMode] != "", want)
		same(t, fmt.Sprintf("with annotations %v", step.annotations), before, h.holdings(t, many, name))
	}
	r.stop(t)
}

// selectionCounts: a tie goes to what OCM had selected, and flap control
// counts it as selected.
func (h handover) selectionCounts(t *testing.T) {
	steady := clusterv1beta1.PlacementSpec{NumberOfClusters: new(int32(1)), PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
		Mode: clusterv1beta1.PrioritizerPolicyModeExact,
		Configurations: append(bestBy(few).PrioritizerPolicy.Configurations, clusterv1beta1.PrioritizerConfig{
			ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: "Steady"}, Weight: 1,
		}),
	}}
	// The last of the few is the best at first; then it is level with the first.
	h.measure(t, fewSize-1, 90)
	last, first := []string{memberOf(few, fewSize-1)}, []string{memberOf(few, 0)}
	for name, spec := range map[string]clusterv1beta1.PlacementSpec{"band": best(1), "steady": steady} {
		h.place(t, few, name, best(1))
		h.decided(t, few, name, bridge.SchedulerOCM, last)
		h.respecify(t, few, name, spec)
	}
	must(t, h.annotate(t.Context(), few, "band", direct(map[string]string{"spokewire.dev/dead-band": "20"})))
	h.decided(t, few, "band", bridge.SchedulerSpokewire, last)
	h.measure(t, fewSize-1, 55) // within the dead band of the first's 60
	testwait.Within(t, handoverWithin, func() string {
		d, err := h.last(t.Context(), few, "band")
		if err != nil || len(d.Explanations) == 0 || d.Explanations[0].Reason != "Held" {
			return fmt.Sprintf("band is not held: %v, %+v", err, d)
		}
		return ""
	})
	h.decided(t, few, "band", bridge.SchedulerSpokewire, last)
	h.decided(t, few, "steady", bridge.SchedulerOCM, last)
	must(t, h.annotate(t.Context(), few, "steady", direct(nil)))
	if d := h.decided(t, few, "steady", bridge.SchedulerSpokewire, last); d.Explanations[0].Prioritizers[1].Score != 100 {
		t.Errorf("Steady does not count what OCM had selected: %+v", d.Explanations[0])
	}
	must(t, h.annotate(t.Context(), few, "steady", nil))
	h.decided(t, few, "steady", bridge.SchedulerOCM, last)
	must(t, h.annotate(t.Context(), few, "band", nil))
	h.decided(t, few, "band", bridge.SchedulerOCM, first) // OCM has no dead band
	h.measure(t, fewSize-1, 1)
}

// flips has the annotation come and go while one cluster comes and goes among
// the best ten, so that both schedulers are about to write all the time.
func (h handover) flips(t *testing.T) {
	const name = "ten"
	without, with := membersOf(few, 0, 10), append(membersOf(few, 0, 9), memberOf(few, 10))
	h.measure(t, 10, 1)
	h.place(t, few, name, best(10))
	h.decided(t, few, name, bridge.SchedulerOCM, without)
	before := h.holdings(t, few, name)
	r := h.read(t, few, name, func(got []string) string {
		if !slices.Equal(got, without) && !slices.Equal(got, with) {
			return fmt.Sprintf("%v", got)
		}
		return ""
	})
	isDirect := map[bool]map[string]string{true: direct(nil)}
	flips := 80
	for i := range flips {
		h.measure(t, 10, []float64{100, 1}[i%2])
		pause(t, rand.N(60*time.Millisecond))
		must(t, h.annotate(t.Context(), few, name, isDirect[i%2 == 0]))
		pause(t, rand.N(120*time.Millisecond))
	}
	for _, end := range []struct {
		direct    bool
		scheduler string
		value     float64
		want      []string
	}{
		{true, bridge.SchedulerSpokewire, 100, with},
		{false, bridge.SchedulerOCM, 100, with},
		{false, bridge.SchedulerOCM, 1, without},
		{true, bridge.SchedulerSpokewire, 1, without},
		{true, bridge.SchedulerSpokewire, 100, with},
	} {
		must(t, h.annotate(t.Context(), few, name, isDirect[end.direct]))
		h.measure(t, 10, end.value)
		h.decided(t, few, name, end.scheduler, end.want)
	}
	for page, was := range before {
		if now := h.holdings(t, few, name)[page]; now.uid != was.uid {
			t.Errorf("PlacementDecision %s was deleted and created again", page)
		}
	}
	t.Logf("a reader saw %d states over %d flips", r.stop(t), flips)
}

// staysWithoutUs stops Spokewire altogether, and then lets OCM take over.
func (h handover) staysWithoutUs(t *testing.T) {
	h.place(t, few, "left", best(3))
	want := membersOf(few, 0, 3)
	h.measure(t, 10, 1)
	h.decided(t, few, "left", bridge.SchedulerOCM, want)
	must(t, h.annotate(t.Context(), few, "left", direct(nil)))
	h.decided(t, few, "left", bridge.SchedulerSpokewire, want)
	h.place(t, few, "looked", best(1)) // OCM looks at it after what comes before it
	before := h.holdings(t, few, "left")
	r := h.read(t, few, "left", func(got []string) string {
		if !slices.Equal(got, want) {
			return fmt.Sprintf("%v", got)
		}
		return ""
	})
	for _, service := range []string{"inquiry", "placement-writer", "scorer", "hub-bridge"} {
		must(t, h.stack.Halt(service))
	}
	touch := func(name string) {
		h.place(t, few, name, best(1))
		testwait.Within(t, handoverWithin, func() string {
			pages, err := h.pages(t.Context(), few, name)
			if err != nil || len(pages) != 1 || len(pages[0].Status.Decisions) != 1 {
				return fmt.Sprintf("OCM has not decided %s: %v", name, err)
			}
			return ""
		})
	}
	touch("after-stop")
	same(t, "after Spokewire was stopped", before, h.holdings(t, few, "left"))
	must(t, h.annotate(t.Context(), few, "left", nil))
	touch("after-annotation")
	testwait.Within(t, handoverWithin, func() string {
		pages, err := h.pages(t.Context(), few, "left")
		if err != nil || slices.ContainsFunc(pages, func(p clusterv1beta1.PlacementDecision) bool { return bridge.Ours(&p) }) {
			return fmt.Sprintf("OCM has not taken the pages over: %v", err)
		}
		return ""
	})
	same(t, "after OCM took over", before, h.holdings(t, few, "left"))
	r.stop(t)
}
