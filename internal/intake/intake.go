// Package intake reads the events that decisions of Placements rest on. Who
// decides and who makes a decision again refuse the same by it.
package intake

import (
	"errors"
	"fmt"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Read is events.Read, and refuses what Accept does.
func Read(m events.Message) (events.Received, error) {
	r, err := events.Read(m)
	if err != nil {
		return r, err
	}
	return r, Accept(&r)
}

// Accept returns a *events.BadInput for what the hub is said to have and no
// decision can rest on. It depends on the event alone, so all refuse the same.
func Accept(r *events.Received) error {
	if r.Subject.Family != events.FamilyHub {
		return nil
	}
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
