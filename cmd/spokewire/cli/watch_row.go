package cli

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/spokewire/spokewire/internal/brief"
	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// deleted stands in a row for a tombstone.
const deleted = "deleted"

// record is an event as -o json writes it.
type record struct {
	Stream     string    `json:"stream"`
	Subject    string    `json:"subject"`
	Sequence   uint64    `json:"sequence"`
	ReceivedAt time.Time `json:"receivedAt"`
	// Error says why the event cannot be read; Event is then absent.
	Error string          `json:"error,omitempty"`
	Event json.RawMessage `json:"event,omitempty"`
}

func newRecord(m events.Message, r events.Received, err error) record {
	rec := record{Stream: m.Stream, Subject: m.Subject, Sequence: m.Sequence, ReceivedAt: m.ReceivedAt}
	if err == nil {
		rec.Event, err = r.Event.MarshalJSON()
	}
	if err != nil {
		rec.Error = err.Error()
	}
	return rec
}

func decisionRow(r events.Received) []string {
	name := r.Subject.Namespace + "/" + r.Subject.Name
	d, ok := r.Payload.(*schemas.PlacementDecision)
	if !ok {
		mode := ""
		if r.Subject.Kind == events.KindShadow {
			mode = schemas.ModeShadow
		}
		return []string{name, mode, deleted}
	}
	return []string{name, d.Mode, placement.Selected(d), list(d.Added), list(d.Removed), d.Cause, d.Message}
}

func receiptRow(r events.Received) []string {
	name := objectName(r.Subject)
	receipt, ok := r.Payload.(*schemas.Receipt)
	if !ok {
		return []string{r.Subject.Kind, name, r.Event.Type()}
	}
	return []string{r.Subject.Kind, name, receipt.Outcome, millis(receipt.LagMillis), receipt.Reason, receipt.Message}
}

func deadRow(r events.Received) []string {
	switch p := r.Payload.(type) {
	case *schemas.DeadLetter:
		return []string{inventory.LetterID(p), p.Reason, p.Field, p.Subject, p.Message}
	case *schemas.DeadDropped:
		var ids []string
		for _, l := range p.Letters {
			ids = append(ids, inventory.LetterID(&schemas.DeadLetter{Service: l.Service, Stream: l.Stream, Sequence: l.Sequence}))
		}
		return []string{"-", "dropped", "", "", shorten(list(ids))}
	}
	return []string{objectName(r.Subject), r.Event.Type()}
}

func hubRow(r events.Received) []string {
	return []string{r.Subject.Kind, objectName(r.Subject), shorten(observed(r))}
}

func configRow(r events.Received) []string {
	what := deleted
	switch p := r.Payload.(type) {
	case *schemas.Scorer:
		what = expression(&p.Spec)
	case *schemas.PlacementRequest:
		what = string(p.Spec)
	case *schemas.PlacementPolicy:
		what = inJSON(p.Spec)
	case *schemas.Cordon:
		what = inJSON(p.Spec)
	case *schemas.Rebalance:
		what = inJSON(p.Spec)
	}
	return []string{r.Subject.Kind, objectName(r.Subject), shorten(what)}
}

// inJSON writes what has no shorter form.
func inJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// observed says the essentials of an object on the hub.
func observed(r events.Received) string {
	switch p := r.Payload.(type) {
	case *schemas.Cluster:
		return list(append(append(taints(p.Taints), pairs(p.Claims)...), pairs(p.Labels)...))
	case *schemas.ClusterSet:
		return p.SelectorType
	case *schemas.Binding:
		return "set " + p.ClusterSet
	case *schemas.Placement:
		return p.Mode() + " " + string(p.Spec)
	case *schemas.AddOnScore:
		items := map[string]int{}
		for name, value := range p.Scores {
			items[name] = int(value)
		}
		return list(brief.Counts(items))
	case *schemas.ObservedDecision:
		var names []string
		for _, c := range p.Clusters {
			names = append(names, c.Name)
		}
		return "by " + p.Writer + ": " + list(names)
	case *schemas.DynamicScorer:
		return p.Spec.ConfigSyncMode + " " + p.Spec.ConfigURL
	case *schemas.DynamicScoringConfig:
		return strconv.Itoa(len(p.Masks)) + " masks"
	case *schemas.Deleted:
		return deleted
	}
	return r.Event.Type()
}

func objectName(s events.Subject) string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + "/" + s.Name
}

// expression says what a scorer computes.
func expression(spec *schemas.ScorerSpec) string {
	if spec.CEL != "" {
		return spec.CEL + byLabel(spec.By)
	}
	var items []string
	for _, item := range spec.Items {
		items = append(items, item.Name+"="+item.CEL+byLabel(item.By))
	}
	return list(items)
}

// byLabel says that an item is one for each value of a label.
func byLabel(label string) string {
	if label == "" {
		return ""
	}
	return " by " + label
}
