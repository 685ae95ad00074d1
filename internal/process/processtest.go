package process

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"
)

// TestRuntime is a Runtime for a test: it logs to t and exports nothing.
func TestRuntime(t testing.TB) Runtime {
	return Runtime{
		Name:    "test",
		Log:     slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
		Metrics: prometheus.NewRegistry(),
		Tracer:  noop.NewTracerProvider(),
		Health:  NewHealth(),
	}
}
