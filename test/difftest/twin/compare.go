package twin

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/difftest"
	"github.com/spokewire/spokewire/pkg/events"
)

const (
	// answerLimit is for how long answers may differ once both sides have
	// seen everything.
	answerLimit = 40 * time.Second
	// nudgeEvery is after how long OCM is made to look again. A conflict while
	// it writes a page is lost on it until the Placement's next event or its
	// resync ten minutes later, and a score that only an expression reads does
	// not make it look at all.
	nudgeEvery = 3 * time.Second
	pollEvery  = 200 * time.Millisecond
)

// comparison is the cases with what the hub shows at one moment.
type comparison struct {
	fleets  []difftest.Fleet
	answers map[string]difftest.Answer
	now     time.Time
}

func (c *comparison) outcome(k *kase) difftest.Outcome {
	return difftest.Outcome{Native: c.answers[keyOf(k.native)], Direct: c.answers[keyOf(k.direct)], Before: k.before}
}

// verdict says whether the case's answers are the same, and if not why that
// is known, if it is.
func (c *comparison) verdict(k *kase) (same bool, known string) {
	o := c.outcome(k)
	if difftest.Same(o.Native, o.Direct) {
		return true, ""
	}
	if !o.Native.Given() || !o.Direct.Given() {
		return false, ""
	}
	return false, c.fleets[k.index].Known(k.native, c.now, o)
}

// compare waits until both sides have seen everything, and then until their
// answers are the same. What still differs at the end is reported.
func (r *run) compare(ctx context.Context, b *batch, fleets []difftest.Fleet, step string) error {
	if err := r.barrier(ctx, fmt.Sprintf("barrier-%d-%s", b.first, step)); err != nil {
		return err
	}
	c, err := r.settle(ctx, b.cases, fleets, answerLimit)
	if err != nil {
		return err
	}
	for _, k := range b.cases {
		o := c.outcome(k)
		r.summary.Outcomes[o.Native.Satisfied]++
		if len(o.Direct.Clusters) > 100 {
			r.summary.Pages++
		}
		switch same, known := c.verdict(k); {
		case same:
		case known != "":
			k.known = true
			r.summary.Reasons[known]++
		case !k.differs:
			k.differs = true
			r.report(ctx, c, k, step)
		}
		k.before = o.Direct
	}
	return nil
}

// settle waits until every answer is the same or known to differ, at most for
// the limit.
func (r *run) settle(ctx context.Context, cases []*kase, fleets []difftest.Fleet, limit time.Duration) (*comparison, error) {
	c := &comparison{fleets: fleets, answers: map[string]difftest.Answer{}, now: r.now}
	pending, deadline, nudge := cases, time.Now().Add(limit), time.Now().Add(nudgeEvery)
	for {
		if err := r.hub.read(ctx, c.answers, pending); err != nil {
			return nil, err
		}
		pending = slices.DeleteFunc(slices.Clone(pending), func(k *kase) bool {
			same, known := c.verdict(k)
			return same || known != ""
		})
		if len(pending) == 0 || time.Now().After(deadline) {
			return c, nil
		}
		if time.Now().After(nudge) {
			nudge = time.Now().Add(nudgeEvery)
			if err := r.nudge(ctx, pending); err != nil {
				return nil, err
			}
		}
		if err := sleep(ctx, pollEvery); err != nil {
			return nil, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// nudge touches the native ones. It changes nothing that a decision depends
// on.
func (r *run) nudge(ctx context.Context, cases []*kase) error {
	touch := fmt.Appendf(nil, `{"metadata":{"annotations":{"difftest.spokewire.dev/touched":%q}}}`, time.Now().Format(time.RFC3339Nano))
	for _, k := range cases {
		_, err := r.hub.OCM.ClusterV1beta1().Placements(k.native.Namespace).Patch(ctx, k.native.Name, types.MergePatchType, touch, metav1.PatchOptions{})
		if err != nil {
			return err
		}
	}
	r.Progress("OCM is made to look at %d Placements again", len(cases))
	return nil
}

// read reads what the hub shows of the cases.
func (h Hub) read(ctx context.Context, into map[string]difftest.Answer, cases []*kase) error {
	namespaces := map[string]bool{}
	for _, k := range cases {
		namespaces[k.native.Namespace] = true
	}
	if len(namespaces) > 16 {
		namespaces = map[string]bool{"": true}
	}
	for namespace := range namespaces {
		if err := h.readNamespace(ctx, into, namespace); err != nil {
			return err
		}
	}
	return nil
}

func (h Hub) readNamespace(ctx context.Context, into map[string]difftest.Answer, namespace string) error {
	pages, err := h.OCM.ClusterV1beta1().PlacementDecisions(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	placements, err := h.OCM.ClusterV1beta1().Placements(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	of := map[string][]clusterv1beta1.PlacementDecision{}
	for _, page := range pages.Items {
		key := page.Namespace + "/" + page.Labels[clusterv1beta1.PlacementLabel]
		of[key] = append(of[key], page)
	}
	for i := range placements.Items {
		key := keyOf(&placements.Items[i])
		into[key] = difftest.Read(&placements.Items[i], of[key])
	}
	return nil
}

// report says what differs, and how to see it again.
func (r *run) report(ctx context.Context, c *comparison, k *kase, step string) {
	o, f := c.outcome(k), c.fleets[k.index].Only(k.native)
	r.Progress("DIFFERENCE in case %d, Placement %s, when all was %s (again: SEED=%d CASE=%d)\nOCM:       %s\nSpokewire: %s\nbefore:    %s\nSpokewire explains: %s",
		k.number, keyOf(k.native), step, r.Seed, k.number, o.Native, o.Direct, o.Before, r.hub.explanation(ctx, k.direct))
	if r.shrunk++; r.shrunk <= maxShrunk {
		var err error
		if f, err = r.shrink(ctx, f); err != nil {
			r.Progress("shrinking stopped: %v", err)
		}
	}
	r.Progress("the fleet:\n%s--- # the Placement\n%s", f.YAML(), difftest.YAML(f.Placements[0]))
}

func (h Hub) explanation(ctx context.Context, p *clusterv1beta1.Placement) string {
	m, err := h.Bus.Last(ctx, events.StreamDecisions, events.DecisionSubject(events.KindPlacement, p.Namespace, p.Name))
	if err != nil {
		return err.Error()
	}
	return string(m.Data)
}

const maxShrunk = 2

// shrinkLimit is for how long the answers of smaller fleets may differ: they
// are decided while nothing else happens.
const shrinkLimit = 4 * time.Second

// shrink looks for a smaller fleet, new on the hub, whose answers differ too.
func (r *run) shrink(ctx context.Context, f difftest.Fleet) (difftest.Fleet, error) {
	return difftest.Shrink(f, r.Shrink, func(smaller []difftest.Fleet) ([]bool, error) { return r.differ(ctx, smaller) })
}

func (r *run) differ(ctx context.Context, fleets []difftest.Fleet) ([]bool, error) {
	var cases []*kase
	renamed := make([]difftest.Fleet, len(fleets))
	for i := range fleets {
		var err error
		if renamed[i], err = fleets[i].Renamed(fmt.Sprintf("s%03d", r.names)); err != nil {
			return nil, err
		}
		r.names++
		p := renamed[i].Placements[0]
		cases = append(cases, &kase{index: i, native: p, direct: difftest.Direct(p)})
	}
	err := eachFleet(ctx, renamed, func(ctx context.Context, i int) error { return createFleet(ctx, r.hub, &renamed[i]) })
	if err == nil {
		err = r.barrier(ctx, fmt.Sprintf("barrier-shrink-%d", r.names))
	}
	if err != nil {
		return nil, err
	}
	c, err := r.settle(ctx, cases, renamed, shrinkLimit)
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(cases))
	for i, k := range cases {
		same, known := c.verdict(k)
		out[i] = !same && known == ""
	}
	return out, nil
}
