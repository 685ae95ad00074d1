package decider

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Trigger is an event that sets off a decision.
type Trigger struct {
	Origin schemas.Origin
	Span   trace.SpanContext
}

// TriggerOf returns r as a Trigger.
func TriggerOf(r *events.Received) Trigger {
	return Trigger{
		Origin: schemas.Origin{ID: r.Event.ID(), Subject: r.Message.Subject, ReceivedAt: r.Message.ReceivedAt},
		Span:   trace.SpanContextFromContext(events.Extract(context.Background(), r.Event)),
	}
}
