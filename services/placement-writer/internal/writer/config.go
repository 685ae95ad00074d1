package writer

import (
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// setPolicy takes the fleet's PlacementPolicy, nil where it is gone.
func (w *Writer) setPolicy(spec *schemas.PlacementPolicySpec, t decider.Trigger) {
	w.fleet.SetPolicy(spec)
	w.markAll("", t)
}

// setCordon takes a cluster's Cordon, nil where it is gone.
func (w *Writer) setCordon(cluster string, spec *schemas.CordonSpec, t decider.Trigger) {
	if w.fleet.SetCordon(cluster, spec) {
		w.markAll(cluster, t)
	}
}

// setRebalance takes a Placement's last Rebalance, nil where it is gone. One
// for a Placement that is not there, or not ours to decide, waits for that
// until it ends.
func (w *Writer) setRebalance(k placement.Key, p *schemas.Rebalance, receivedAt time.Time, t decider.Trigger) {
	if !w.fleet.SetRebalance(k, p, receivedAt) {
		return
	}
	for _, at := range []seat{{k, false}, {k, true}} {
		if d := w.desks[at]; d != nil && d.decides() {
			w.mark(d, "", t)
		}
	}
}

// forgetConfig drops what users asked for.
func (w *Writer) forgetConfig(s events.Subject, t decider.Trigger) {
	switch s.Kind {
	case events.KindPolicy:
		w.setPolicy(nil, t)
	case events.KindCordon:
		w.setCordon(s.Name, nil, t)
	case events.KindRebalance:
		k := placement.Key{Namespace: s.Namespace, Name: s.Name}
		delete(w.seen.asked, k)
		w.setRebalance(k, nil, time.Time{}, t)
	}
}
