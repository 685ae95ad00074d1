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
	r, err := read(m, &subject)
	return r, about(m.Subject, err)
}

// ReadDocument reads an event in structured mode that is on no subject yet.
// It checks all that Read does but for what must agree with the subject; the
// source of metrics must be one that agrees with some subject. Every error is
// a *BadInput.
func ReadDocument(document []byte) (Received, error) {
	return read(Message{Header: Header{headerContentType: {structuredType}}, Data: document}, nil)
}

// read reads m; subject is nil where it is on none.
func read(m Message, subject *Subject) (Received, error) {
	e, err := decodeValid(m)
	if err != nil {
		return Received{}, err
	}
	r := Received{Message: m, Event: e}
	if subject != nil {
		r.Subject = *subject
	}
	if err := checkEnvelope(subject, e); err != nil {
		return Received{}, err
	}
	if r.Payload, err = readPayload(e); err != nil {
		return Received{}, err
	}
	if subject != nil {
		if err := checkPayload(m.Subject, *subject, r.Payload); err != nil {
			return Received{}, err
		}
	}
	age, err := checkAttributes(e)
	if err != nil {
		return Received{}, err
	}
	r.ObservedAt = m.ReceivedAt.Add(-age)
	return r, nil
}

// about has bad input name the subject that it is on.
func about(subject string, err error) error {
	if err == nil {
		return nil
	}
	var bad *BadInput
	if !errors.As(err, &bad) {
		return err
	}
	return &BadInput{Reason: bad.Reason, Field: bad.Field, Err: fmt.Errorf("%s: %w", subject, bad.Err)}
}

func readPayload(e event.Event) (schemas.Payload, error) {
	payload, err := schemas.Decode(e.Type(), e.Data())
	var field *schemas.FieldError
	switch {
	case err == nil:
		return payload, nil
	case errors.Is(err, schemas.ErrUnknownType):
		return nil, &BadInput{Reason: "UnknownType", Field: "type", Err: fmt.Errorf("%w (see: spokewire schema list)", err)}
	}
	bad := &BadInput{Reason: "BadPayload", Field: "data", Err: err}
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
	case FamilyHub, FamilyConfig, FamilyStatus:
		return "dev.spokewire." + s.Family + "." + s.Kind + "."
	case FamilyDecision:
		if s.Kind == KindShadow {
			return "dev.spokewire." + KindPlacement + "."
		}
		return "dev.spokewire." + s.Kind + "."
	}
	return "dev.spokewire." + s.Family + "."
}

// checkEnvelope checks the type and the source of e; subject is nil where it
// is on none.
func checkEnvelope(subject *Subject, e event.Event) error {
	isMetrics := e.Type() == schemas.TypeMetricsObserved
	if subject != nil {
		if prefix := typePrefix(*subject); !strings.HasPrefix(e.Type(), prefix) {
			return &BadInput{Reason: "WrongType", Field: "type", Err: fmt.Errorf("type is %q, want %s…", e.Type(), prefix)}
		}
		isMetrics = subject.Family == FamilyMetric || subject.Family == FamilyBackfill
	}
	if isMetrics {
		if err := checkSource(subject, e.Source()); err != nil {
			return &BadInput{Reason: "WrongSource", Field: "source", Err: err}
		}
	}
	return nil
}

// checkSource checks the source of metrics.
func checkSource(subject *Subject, source string) error {
	if subject == nil {
		_, _, err := ParseClusterSource(source)
		return err
	}
	if want := ClusterSource(subject.Cluster, subject.Name); source != want {
		return fmt.Errorf("source is %q, but the subject is that of %q", source, want)
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
		if isShadow := p.Mode == schemas.ModeShadow; isShadow != (s.Kind == KindShadow) {
			field, got, want = "mode", p.Mode, s.Kind
		}
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
	case *schemas.Cordon:
		field, got, want = "metadata.name", "/"+p.Metadata.Name, s.Namespace+"/"+s.Name
	case *schemas.Rebalance:
		field, got, want = "metadata.name", p.Metadata.Namespace+"/"+p.Metadata.Name, s.Namespace+"/"+s.Name
	case *schemas.DynamicScorer:
		field, got, want = "name", p.Namespace+"/"+p.Name, s.Namespace+"/"+s.Name
	case *schemas.DynamicScoringConfig:
		field, got, want = "name", p.Namespace+"/"+p.Name, s.Namespace+"/"+s.Name
	case *schemas.DynamicScorerRequest:
		field, got, want = "metadata.name", p.Metadata.Namespace+"/"+p.Metadata.Name, s.Namespace+"/"+s.Name
	case *schemas.DynamicScoringConfigRequest:
		field, got, want = "metadata.name", p.Metadata.Namespace+"/"+p.Metadata.Name, s.Namespace+"/"+s.Name
	case *schemas.ScorerStatus:
		field, got, want = "name", p.Namespace+"/"+p.Name, s.Namespace+"/"+s.Name
	case *schemas.PlacementRequest:
		field, got, want = "metadata.name", p.Metadata.Namespace+"/"+p.Metadata.Name, s.Namespace+"/"+s.Name
	}
	if got != want {
		return &BadInput{Reason: "WrongSubject", Field: field, Err: fmt.Errorf("%s is that of %q, but the subject that of %q", field, got, want)}
	}
	return nil
}
