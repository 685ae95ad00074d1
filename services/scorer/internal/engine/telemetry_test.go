package engine

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// evaluations returns how often each scorer was evaluated.
func evaluations(t testing.TB, e *Engine) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, m := range collect(t, e.counts.evaluations) {
		for _, l := range m.GetLabel() {
			if l.GetName() == "scorer" {
				out[l.GetValue()] += int(m.GetCounter().GetValue())
			}
		}
	}
	return out
}

// total returns the sum of a counter's series.
func total(t testing.TB, c prometheus.Collector) int {
	t.Helper()
	sum := 0.0
	for _, m := range collect(t, c) {
		sum += m.GetCounter().GetValue()
	}
	return int(sum)
}

func gauge(t testing.TB, g prometheus.Gauge) float64 {
	t.Helper()
	return collect(t, g)[0].GetGauge().GetValue()
}

func collect(t testing.TB, c prometheus.Collector) []*dto.Metric {
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
