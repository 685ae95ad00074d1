package observe

import (
	"context"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.opentelemetry.io/otel/propagation"

	"github.com/spokewire/spokewire/pkg/events"
)

// inject writes the trace that ctx is part of into e.
func inject(ctx context.Context, e *event.Event) {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	for _, name := range []string{events.ExtTraceParent, events.ExtTraceState} {
		if value := carrier.Get(name); value != "" {
			e.SetExtension(name, value)
		}
	}
}
