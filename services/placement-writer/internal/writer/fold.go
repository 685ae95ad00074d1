package writer

import (
	"reflect"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Fold takes one update into the snapshot. A message that makes no sense is
// buried and leaves what was known before it, which events.Readable makes the
// same for every replica.
func (w *Writer) Fold(u events.Update) {
	w.folded = true
	switch u.Kind {
	case events.Behind:
		w.forgetAcks(u.Message.Stream)
		w.fleet.Forget(u.Message.Stream)
		return
	case events.Gone:
		w.gone(u.Message.Subject)
		return
	case events.Synced:
		w.reread(u.Message)
		return
	}
	received, err := u.Read()
	if err == nil {
		err = w.foldReceived(&received)
	}
	w.fleet.Observe(u.Message.Stream, u.Message.Sequence)
	if err != nil {
		w.refuse(u.Message, err)
	}
}

// reread follows each complete reading of a stream.
func (w *Writer) reread(end events.Message) {
	if end.Stream == events.StreamConfig {
		// Of what else users ask for decisions know nothing: the position is
		// that of what they read.
		w.seen.lower(end.Stream, end.Sequence)
		return
	}
	w.fleet.Observe(end.Stream, end.Sequence)
	if end.Stream == events.StreamDecisions {
		return
	}
	last := w.fleet.Basis()[end.Stream]
	w.seen.lower(end.Stream, last)
	for _, d := range w.desks {
		if end.Stream == events.StreamHub {
			d.position = min(d.position, last)
		}
	}
}

func (w *Writer) foldReceived(r *events.Received) error {
	sequence, t := r.Message.Sequence, decider.TriggerOf(r)
	switch p := r.Payload.(type) {
	case *schemas.Cluster:
		w.seen.fleet = max(w.seen.fleet, sequence)
		if w.fleet.SetCluster(p) {
			w.markAll(p.Name, t)
		}
	case *schemas.ClusterSet:
		w.seen.fleet = max(w.seen.fleet, sequence)
		if err := w.fleet.SetClusterSet(p); err != nil {
			return err
		}
		w.markAll("", t)
	case *schemas.Binding:
		w.seen.fleet = max(w.seen.fleet, sequence)
		w.fleet.SetBinding(p)
		w.markNamespace(p.Namespace, t)
	case *schemas.Placement:
		return w.foldPlacement(r.Subject, p, sequence, t)
	case *schemas.ObservedDecision:
		for _, d := range w.both(r.Subject) {
			w.setObserved(d, p)
		}
	case *schemas.PlacementDecision:
		w.follow(w.desk(seatOf(r.Subject)), p, sequence)
	case *schemas.PlacementPolicy:
		w.seen.config = max(w.seen.config, sequence)
		w.setPolicy(&p.Spec, t)
	case *schemas.Cordon:
		w.seen.config = max(w.seen.config, sequence)
		w.setCordon(p.Metadata.Name, &p.Spec, t)
	case *schemas.Rebalance:
		k := placement.Key{Namespace: p.Metadata.Namespace, Name: p.Metadata.Name}
		w.seen.asked[k] = sequence
		w.setRebalance(k, p, r.Message.ReceivedAt, t)
	case *schemas.Score, *schemas.AddOnScore:
		w.foldScore(r, t)
	case *schemas.Deleted:
		w.foldDeleted(r, p, t)
	}
	return nil
}

func (w *Writer) foldPlacement(s events.Subject, p *schemas.Placement, sequence uint64, t decider.Trigger) error {
	first := w.desk(seatOf(s))
	if first.object != nil && reflect.DeepEqual(first.object.Object, *p) {
		for _, d := range w.both(s) {
			d.position = sequence
		}
		return nil
	}
	parsed, err := placement.Parse(*p)
	if err != nil {
		return err
	}
	if p.Mode() == schemas.ModeShadow {
		w.desk(seat{first.Key, true})
	}
	for _, d := range w.both(s) {
		d.deleted, d.position = nil, sequence
		w.setObject(d, parsed)
		w.settled(d)
		w.mark(d, "", t)
	}
	return nil
}

func (w *Writer) foldScore(r *events.Received, t decider.Trigger) {
	now := w.Now()
	switch p := r.Payload.(type) {
	case *schemas.Score:
		saw(w.seen.scores, p.Scorer, r.Message.Sequence)
		if p.Origin != nil {
			t.Origin = *p.Origin
		}
		if w.fleet.SetScore(p, r.Message.ReceivedAt, now) {
			w.markUsers(p.Scorer, p.Cluster, t)
		}
	case *schemas.AddOnScore:
		saw(w.seen.addOns, p.Name, r.Message.Sequence)
		if w.fleet.SetAddOnScore(p, now) {
			w.markUsers(p.Name, p.Cluster, t)
		}
	}
}

// foldDeleted takes a tombstone. Only that of a Placement ends its decision.
func (w *Writer) foldDeleted(r *events.Received, p *schemas.Deleted, t decider.Trigger) {
	s, sequence := r.Subject, r.Message.Sequence
	switch {
	case s.Family == events.FamilyHub && s.Kind == events.KindPlacement:
		for _, d := range w.both(s) {
			d.deleted = p
			w.setObject(d, nil)
			w.settled(d)
			w.mark(d, "", t)
		}
	case s.Family == events.FamilyDecision:
		w.follow(w.desk(seatOf(s)), nil, sequence)
	default:
		w.note(s, sequence)
		w.forget(s, t)
	}
}

// gone takes note that a subject has no event any more: the log was purged,
// restored, or a tombstone expired.
func (w *Writer) gone(subject string) {
	s, err := events.ParseSubject(subject)
	if err != nil {
		return // its events were buried, nothing is known from them
	}
	d, g := w.desks[seatOf(s)], w.graves[seatOf(s)]
	switch {
	case s.Family == events.FamilyDecision && g != nil:
		g.sequence, g.acked = 0, 0
	case s.Family == events.FamilyHub && s.Kind == events.KindPlacement:
		w.gonePlacement(s)
	case s.Family == events.FamilyDecision && d != nil:
		if !d.shadow {
			delete(w.ahead.stored, d.Key)
		}
		w.setDecision(d, nil, 0)
		w.mark(d, "", decider.Trigger{})
	default:
		w.forget(s, decider.Trigger{})
	}
}

func (w *Writer) gonePlacement(s events.Subject) {
	k := placement.Key{Namespace: s.Namespace, Name: s.Name}
	for _, at := range []seat{{k, false}, {k, true}} {
		delete(w.graves, at)
		d := w.desks[at]
		if d == nil {
			continue
		}
		if d.object != nil && !d.shadow {
			w.Log.Warn("placement is gone from the log without a tombstone, its decision stays", "placement", k.String())
		}
		d.deleted = nil
		w.setObject(d, nil)
		w.settled(d)
	}
}

// note keeps the position of a tombstone.
func (w *Writer) note(s events.Subject, sequence uint64) {
	switch {
	case s.Family == events.FamilyConfig:
		w.seen.config = max(w.seen.config, sequence)
	case s.Family == events.FamilyScore:
		saw(w.seen.scores, s.Name, sequence)
	case s.Kind == events.KindAddOnScore:
		saw(w.seen.addOns, s.Name, sequence)
	case s.Kind != events.KindPlacementDecision:
		w.seen.fleet = max(w.seen.fleet, sequence)
	}
}

// forget drops what the subject said.
func (w *Writer) forget(s events.Subject, t decider.Trigger) {
	switch {
	case s.Family == events.FamilyConfig:
		w.forgetConfig(s, t)
	case s.Family == events.FamilyScore:
		if w.fleet.DeleteScore(s.Cluster, s.Name, w.Now()) {
			w.markUsers(s.Name, s.Cluster, t)
		}
	case s.Family != events.FamilyHub:
	case s.Kind == events.KindAddOnScore:
		if w.fleet.DeleteAddOnScore(s.Namespace, s.Name, w.Now()) {
			w.markUsers(s.Name, s.Namespace, t)
		}
	case s.Kind == events.KindCluster:
		if w.fleet.DeleteCluster(s.Name) {
			w.markAll(s.Name, t)
		}
	case s.Kind == events.KindClusterSet:
		w.fleet.DeleteClusterSet(s.Name)
		w.markAll("", t)
	case s.Kind == events.KindBinding:
		w.fleet.DeleteBinding(s.Namespace, s.Name)
		w.markNamespace(s.Namespace, t)
	case s.Kind == events.KindPlacementDecision:
		for _, d := range w.both(s) {
			w.setObserved(d, nil)
		}
	}
}
