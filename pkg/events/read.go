package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Received is a message that was read down to its payload.
type Received struct {
	Message Message
	Event   event.Event
	Subject Subject
	// Payload is a pointer to one of package schemas' structs.
	Payload schemas.Payload
	// ObservedAt is when the payload was current: the server's receive time
	// less the event's age. It says how fresh the payload is.
	ObservedAt time.Time
}

// Read decodes m: its subject, envelope and payload, and checks that they
// agree. What m claims of itself is worth nothing beyond its subject, which
// the server's permissions guard: an event whose source names another
// cluster is refused. Every error is a *BadInput.
func Read(m Message) (Received, error) {
	subject, err := ParseSubject(m.Subject)
	if err != nil {
		return Received{}, &BadInput{Reason: "BadSubject", Field: "subject", Err: err}
	}
	e, err := Decode(m)
	if err != nil {
		return Received{}, err
	}
	if err := checkEnvelope(m.Subject, subject, e); err != nil {
		return Received{}, err
	}
	payload, err := readPayload(m, e)
	if err != nil {
		return Received{}, err
	}
	if err := checkPayload(m.Subject, subject, payload); err != nil {
		return Received{}, err
	}
	age, err := Age(e)
	if err != nil {
		return Received{}, &BadInput{Reason: "BadAge", Field: ExtAge, Err: fmt.Errorf("%s: %w", m.Subject, err)}
	}
	return Received{Message: m, Event: e, Subject: subject, Payload: payload, ObservedAt: m.ReceivedAt.Add(-age)}, nil
}

func readPayload(m Message, e event.Event) (schemas.Payload, error) {
	payload, err := schemas.Decode(e.Type(), e.Data())
	var field *schemas.FieldError
	switch {
	case err == nil:
		return payload, nil
	case errors.Is(err, schemas.ErrUnknownType):
		return nil, &BadInput{Reason: "UnknownType", Field: "type", Err: fmt.Errorf("%s: %w (see: spokewire schema list)", m.Subject, err)}
	}
	bad := &BadInput{Reason: "BadPayload", Field: "data", Err: fmt.Errorf("%s: %w", m.Subject, err)}
	if errors.As(err, &field) {
		bad.Field = field.Field
	}
	if !json.Valid(e.Data()) {
		bad.Reason = "NotJSON"
	}
	return nil, bad
}

// typePrefix is how the type of every event on a subject begins.
func typePrefix(s Subject) string {
	switch s.Family {
	case FamilyMetric, FamilyBackfill:
		return "dev.spokewire.metrics."
	case FamilyHub, FamilyConfig:
		return "dev.spokewire." + s.Family + "." + s.Kind + "."
	case FamilyDecision:
		return "dev.spokewire." + s.Kind + "."
	}
	return "dev.spokewire." + s.Family + "."
}

// checkEnvelope checks the type and the source of e against the subject.
func checkEnvelope(subject string, s Subject, e event.Event) error {
	if prefix := typePrefix(s); !strings.HasPrefix(e.Type(), prefix) {
		return &BadInput{Reason: "WrongType", Field: "type", Err: fmt.Errorf("%s: type is %q, want %s…", subject, e.Type(), prefix)}
	}
	switch s.Family {
	case FamilyMetric, FamilyBackfill:
		if want := ClusterSource(s.Cluster, s.Name); e.Source() != want {
			return &BadInput{Reason: "WrongSource", Field: "source", Err: fmt.Errorf("%s: source is %q, but the subject is that of %q", subject, e.Source(), want)}
		}
	}
	return nil
}

// checkPayload checks that the names in the payload are those of the
// subject.
func checkPayload(subject string, s Subject, p schemas.Payload) error {
	var field, got, want string
	switch p := p.(type) {
	case *schemas.Score:
		field, got, want = "cluster", p.Cluster+"/"+p.Scorer, s.Cluster+"/"+s.Name
		if p.Cluster == s.Cluster {
			field = "scorer"
		}
	case *schemas.Cluster:
		field, got, want = "name", "/"+p.Name, s.Namespace+"/"+s.Name
	case *schemas.ClusterSet:
		field, got, want = "name", "/"+p.Name, s.Namespace+"/"+s.Name
	case *schemas.Binding:
		field, got, want = "name", p.Namespace+"/"+p.Name, s.Namespace+"/"+s.Name
	case *schemas.Placement:
		field, got, want = "name", p.Namespace+"/"+p.Name, s.Namespace+"/"+s.Name
	case *schemas.AddOnScore:
		field, got, want = "name", p.Cluster+"/"+p.Name, s.Namespace+"/"+s.Name
	case *schemas.ObservedDecision:
		field, got, want = "placement", p.Placement.Namespace+"/"+p.Placement.Name, s.Namespace+"/"+s.Name
	case *schemas.PlacementDecision:
		field, got, want = "placement", p.Placement.Namespace+"/"+p.Placement.Name, s.Namespace+"/"+s.Name
	case *schemas.DeadLetter:
		field, got, want = "service", DeadSubject(p.Service, p.Stream, p.Sequence), subject
	case *schemas.DeadDropped:
		// On its own subjects alone a service could drop what it buried.
		field, got, want = "service", s.Name, DeadOperator
	case *schemas.Deleted:
		if s.Family == FamilyScore {
			return nil
		}
		field, got, want = "name", p.Namespace+"/"+p.Name, s.Namespace+"/"+s.Name
	case *schemas.Scorer:
		field, got, want = "metadata.name", p.Metadata.Name, s.Name
	case *schemas.PlacementPolicy:
		field, got, want = "metadata.name", p.Metadata.Name, s.Name
	case *schemas.PlacementRequest:
		field, got, want = "metadata.name", p.Metadata.Namespace+"/"+p.Metadata.Name, s.Namespace+"/"+s.Name
	}
	if got != want {
		return &BadInput{Reason: "WrongSubject", Field: field, Err: fmt.Errorf("%s: %s is that of %q, but the subject that of %q", subject, field, got, want)}
	}
	return nil
}
