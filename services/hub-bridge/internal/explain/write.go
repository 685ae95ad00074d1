package explain

import (
	"context"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/kube"
)

// handle tells of the decision that waits, if the Placement is still the one
// that it is for, and Spokewire's.
func (r *Recorder) handle(ctx context.Context, subject string) (time.Duration, error) {
	w, wait := r.get(subject)
	if w == nil {
		return 0, nil
	}
	if r.untold(subject, w) == nil {
		r.end(subject, w)
		return 0, nil
	}
	if wait > 0 {
		return wait, nil
	}
	if err := r.limiter.Wait(ctx); err != nil {
		return 0, err
	}
	r.Urgent.Yield(ctx, yieldMost)
	if p := r.untold(subject, w); p != nil {
		if err := r.tell(ctx, subject, w, p); err != nil {
			return 0, r.failed(ctx, subject, w, err)
		}
		r.results.WithLabelValues(resultTold).Inc()
		r.rest(subject)
	}
	r.end(subject, w)
	return 0, nil
}

// untold returns the Placement that does not say w yet; nil where it does,
// or is gone, or is another's.
func (r *Recorder) untold(subject string, w *waiting) *clusterv1beta1.Placement {
	p := r.Hub.Placement(w.namespace, w.name)
	switch {
	case p == nil:
		r.forget(subject)
		return nil
	case bridge.Judge(w.decision, p).Action != bridge.Apply:
		return nil
	}
	if _, differs := bridge.ExplainedStatus(p, w.explanation, r.Clock.Now()); !differs {
		r.mark(subject, w.explanation.Sequence)
		return nil
	}
	return p
}

// tell writes the Event, and then the condition, by which a replica that
// comes after this one sees that there is nothing left to tell.
func (r *Recorder) tell(ctx context.Context, subject string, w *waiting, p *clusterv1beta1.Placement) error {
	if r.wantsEvent(subject, w) {
		if err := r.Hub.CreateEvent(ctx, bridge.ExplainedEvent(p, w.explanation, w.others, r.Identity)); err != nil {
			if !kube.Final(err) {
				return err
			}
			r.refused.Do(func() {
				r.Log.Warn("the hub does not take an Event on a Placement; where that is forbidden, apply the ClusterRole of this version of hub-bridge", "placement", p.Namespace+"/"+p.Name, "error", err)
			})
		}
		r.mark(subject, w.explanation.Sequence)
	}
	status, differs := bridge.ExplainedStatus(p, w.explanation, r.Clock.Now())
	if !differs {
		return nil
	}
	p = p.DeepCopy()
	p.Status = status
	_, err := r.Hub.UpdatePlacementStatus(ctx, p)
	return err
}

func (r *Recorder) wantsEvent(subject string, w *waiting) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !w.silent && r.told[subject].sequence != w.explanation.Sequence && r.Clock.Now().Sub(w.explanation.At) < eventFor
}

// mark takes note that the decision needs no Event any more.
func (r *Recorder) mark(subject string, sequence uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told[subject] = told{sequence, r.told[subject].next}
}

// rest has the next explanation of a Placement wait, also where others take
// each one away.
func (r *Recorder) rest(subject string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told[subject] = told{r.told[subject].sequence, time.Now().Add(gap)}
}

// failed asks for another try, by a newer state of the Placement, or gives up.
func (r *Recorder) failed(ctx context.Context, subject string, w *waiting, err error) error {
	w.tries++
	switch {
	case ctx.Err() != nil:
		return err
	case kube.NoNamespace(err):
		r.end(subject, w) // it is going, and the Placement with it
		return nil
	case kube.Final(err), w.tries >= maxTries:
		r.Log.Warn("cannot explain a decision on the hub", "subject", subject, "sequence", w.explanation.Sequence, "error", err)
		r.results.WithLabelValues(resultFailed).Inc()
		r.end(subject, w)
		return nil
	case kube.Stale(err):
		if err := r.Hub.RefreshPlacement(ctx, w.namespace, w.name); err != nil {
			return err
		}
	}
	return err
}
