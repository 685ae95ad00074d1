package engine

import (
	"context"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.opentelemetry.io/otel/propagation"

	"github.com/spokewire/spokewire/pkg/events"
)

func extract(ctx context.Context, e event.Event) context.Context {
	carrier := propagation.MapCarrier{}
	for _, key := range []string{events.ExtTraceParent, events.ExtTraceState} {
		if s, ok := e.Extensions()[key].(string); ok {
			carrier[key] = s
		}
	}
	return propagation.TraceContext{}.Extract(ctx, carrier)
}

func inject(ctx context.Context, e *event.Event) {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	for k, v := range carrier {
		e.SetExtension(k, v)
	}
}
