// Package decidertest runs deciders in tests.
package decidertest

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/spokewire/spokewire/internal/decider"
)

// MaxInFlight is that of Config.
const MaxInFlight = 64

// Config logs to t. tracer may be nil.
func Config(t testing.TB, b decider.Bus, tracer trace.TracerProvider) decider.Config {
	if tracer == nil {
		tracer = noop.NewTracerProvider()
	}
	return decider.Config{
		Bus: b, Metrics: prometheus.NewRegistry(), Tracer: tracer, MaxInFlight: MaxInFlight,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

// Run runs s until the test ends, or the returned function is called.
func Run(t testing.TB, s decider.Service) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// Total returns the sum of the series of a counter or gauge.
func Total(t testing.TB, c prometheus.Collector) int {
	t.Helper()
	sum := 0.0
	for _, m := range Series(t, c) {
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	return int(sum)
}

// Series returns the series of a metric.
func Series(t testing.TB, c prometheus.Collector) []*dto.Metric {
	t.Helper()
	found := make(chan prometheus.Metric)
	go func() {
		defer close(found)
		c.Collect(found)
	}()
	var out []*dto.Metric
	for m := range found {
		var d dto.Metric
		if err := m.Write(&d); err != nil {
			t.Error(err)
		}
		out = append(out, &d)
	}
	return out
}
