package twin

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/difftest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// contestLimit is how long one step of a contest may take.
const contestLimit = 30 * time.Second

// contests runs those of a batch one after the other, while nothing else
// happens.
func (r *run) contests(ctx context.Context, b *batch) error {
	for i := range b.after {
		number := (b.first+i)*r.PerFleet + r.PerFleet - 1
		if number >= r.Cases || r.Case >= 0 && number != r.Case {
			continue
		}
		contest := b.after[i].Contest(r.Seed, b.first+i)
		k := &kase{number: number, index: i, native: contest.Placement, direct: difftest.Direct(contest.Placement)}
		if err := r.contest(ctx, b, k, contest); err != nil {
			return fmt.Errorf("case %d: %w", number, err)
		}
		b.cases = append(b.cases, k)
	}
	return nil
}

// contestTries is how often a contest is played before its answers differ for
// good. Balance counts every decision on the hub, and either side may still
// have one in mind that is gone; a rule that differs does so every time.
const contestTries = 3

func (r *run) contest(ctx context.Context, b *batch, k *kase, contest difftest.Contest) error {
	f := &b.after[k.index]
	for try := 1; ; try++ {
		native, err := r.play(ctx, k.native, contest.Then)
		if err != nil {
			return err
		}
		direct, err := r.play(ctx, k.direct, contest.Then)
		if err != nil {
			return err
		}
		round, known := judge(f, k, native, direct, r.now)
		switch {
		case round < 0:
			r.summary.Outcomes[native[0].Satisfied]++
			r.summary.Outcomes[native[1].Satisfied]++
			if k.known = known != ""; k.known {
				r.summary.Reasons[known]++
			}
			return nil
		case try == contestTries:
			k.differs = true
			alone := f.Only(k.native)
			r.Progress("DIFFERENCE in case %d, round %d of the contest %s, three times (again: the whole run, SEED=%d)\nOCM:       %s\nSpokewire: %s\nthe fleet:\n%s--- # the Placement\n%s",
				k.number, round+1, keyOf(k.native), r.Seed, native[round], direct[round], alone.YAML(), difftest.YAML(k.native))
			return nil
		}
		r.Progress("contest %s is played again: OCM %s, Spokewire %s", keyOf(k.native), native[round], direct[round])
	}
}

// judge returns the first round whose answers differ and must not, -1 for
// none, and why one may.
func judge(f *difftest.Fleet, k *kase, native, direct []difftest.Answer, now time.Time) (int, string) {
	why := ""
	var before difftest.Answer
	for round := range native {
		o := difftest.Outcome{Native: native[round], Direct: direct[round], Before: before}
		before = o.Direct
		if difftest.Same(o.Native, o.Direct) {
			continue
		}
		known := f.Known(k.native, now, o)
		if known == "" {
			return round, ""
		}
		why = known
	}
	return -1, why
}

// play lets one decider decide p, then again for more clusters, and takes p
// away.
func (r *run) play(ctx context.Context, p *clusterv1beta1.Placement, then int32) ([]difftest.Answer, error) {
	placements := r.hub.OCM.ClusterV1beta1().Placements(p.Namespace)
	if _, err := placements.Create(ctx, p, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	first, err := r.hub.await(ctx, p, contestLimit, complete)
	if err != nil {
		return nil, err
	}
	more := p.DeepCopy()
	more.Spec.NumberOfClusters = &then
	if err := respecify(ctx, r.hub, more); err != nil {
		return nil, err
	}
	second := first
	if len(first.Clusters) > 0 { // else nothing changes that one could wait for
		second, err = r.hub.await(ctx, p, contestLimit, func(a difftest.Answer) bool {
			return complete(a) && (a.Selected != first.Selected || a.Satisfied != first.Satisfied)
		})
		if err != nil {
			return nil, err
		}
	}
	return []difftest.Answer{first, second}, r.remove(ctx, p)
}

// complete reports whether status and pages agree.
func complete(a difftest.Answer) bool {
	return a.Given() && len(a.Faults) == 0 && int(a.Selected) == len(a.Clusters)
}

// remove deletes p and its pages, for which OCM counts on the garbage
// collector, and waits until Spokewire's log says so.
func (r *run) remove(ctx context.Context, p *clusterv1beta1.Placement) error {
	if err := r.hub.OCM.ClusterV1beta1().Placements(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	pages := r.hub.OCM.ClusterV1beta1().PlacementDecisions(p.Namespace)
	ofPlacement := metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + p.Name}
	for deadline := time.Now().Add(contestLimit); ; {
		list, err := pages.List(ctx, ofPlacement)
		if err != nil {
			return err
		}
		for _, page := range list.Items {
			if err := pages.Delete(ctx, page.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		if gone, err := r.hub.gone(ctx, p); err != nil || gone && len(list.Items) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("placement %s is not gone after %s", keyOf(p), contestLimit)
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// gone reports whether the log has no decision of p any more.
func (h Hub) gone(ctx context.Context, p *clusterv1beta1.Placement) (bool, error) {
	for _, at := range [][2]string{
		{events.StreamHub, events.HubSubject(events.KindPlacementDecision, p.Namespace, p.Name)},
		{events.StreamHub, events.HubSubject(events.KindPlacement, p.Namespace, p.Name)},
		{events.StreamDecisions, events.DecisionSubject(events.KindPlacement, p.Namespace, p.Name)},
	} {
		m, err := h.Bus.Last(ctx, at[0], at[1])
		if errors.Is(err, events.ErrNotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		received, err := events.Read(m)
		if err != nil {
			return false, err
		}
		switch d := received.Payload.(type) {
		case *schemas.Deleted:
		case *schemas.PlacementDecision:
			if d.Mode == schemas.ModeDirect {
				return false, nil
			}
		default:
			return false, nil
		}
	}
	return true, nil
}
