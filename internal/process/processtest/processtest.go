// Package processtest gives tests what a process gives a service.
package processtest

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/spokewire/spokewire/internal/process"
)

// Runtime is a Runtime that logs to t and exports nothing.
func Runtime(t testing.TB) process.Runtime {
	return process.Runtime{
		Name:    "test",
		Log:     slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
		Metrics: prometheus.NewRegistry(),
		Tracer:  noop.NewTracerProvider(),
		Health:  process.NewHealth(),
	}
}
