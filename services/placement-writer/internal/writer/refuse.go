package writer

import (
	"errors"
	"fmt"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// accept refuses what the hub is said to have and no decision can rest on. It
// depends on the event alone, so all replicas refuse the same.
func accept(r *events.Received) error {
	switch p := r.Payload.(type) {
	case *schemas.ClusterSet:
		return badInput("BadClusterSet", placement.CheckClusterSet(p))
	case *schemas.Placement:
		_, err := placement.Parse(*p)
		return badInput("BadPlacement", err)
	case *schemas.Cluster, *schemas.Binding, *schemas.ObservedDecision, *schemas.AddOnScore, *schemas.Deleted:
		return nil
	}
	return &events.BadInput{Reason: "WrongType", Field: "type", Err: fmt.Errorf("%s: type %q is none that decisions rest on", r.Message.Subject, r.Event.Type())}
}

func badInput(reason string, err error) error {
	if err == nil {
		return nil
	}
	bad := &events.BadInput{Reason: reason, Err: err}
	var field *schemas.FieldError
	if errors.As(err, &field) {
		bad.Field = field.Field
	}
	return bad
}

// refuse buries m. What its subject said before stays, but decisions name a
// set that never made sense, and are published behind m.
func (w *Writer) refuse(m events.Message, cause error) {
	w.Bury(m, cause)
	s, err := events.ParseSubject(m.Subject)
	switch {
	case err != nil:
	case s.Family == events.FamilyDecision:
		w.skip(w.desk(placement.Key{Namespace: s.Namespace, Name: s.Name}), m.Sequence)
	case s.Family == events.FamilyHub && s.Kind == events.KindClusterSet:
		w.seen.fleet = max(w.seen.fleet, m.Sequence)
		w.fleet.RefuseClusterSet(s.Name, cause)
		w.markAll("", decider.Trigger{})
	}
}
