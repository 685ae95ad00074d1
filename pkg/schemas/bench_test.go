package schemas_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// metricsOf returns the JSON of a snapshot of n series with two labels each.
func metricsOf(b *testing.B, n int) []byte {
	b.Helper()
	var m schemas.Metrics
	for i := range n {
		m.Samples = append(m.Samples, schemas.Sample{
			Name: "gpu_free", Value: float64(i) / 4,
			Labels: map[string]string{"gpu": fmt.Sprint(i), "node": "worker-1"},
		})
	}
	data, err := json.Marshal(&m)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func BenchmarkDecodeMetrics(b *testing.B) {
	for _, n := range []int{10, 1000} {
		data := metricsOf(b, n)
		b.Run(fmt.Sprintf("samples=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := schemas.Decode(schemas.TypeMetricsObserved, data); err != nil {
					b.Fatal(err)
				}
			}
		})
		// What encoding/json alone takes, to compare.
		b.Run(fmt.Sprintf("json/samples=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := json.Unmarshal(data, new(schemas.Metrics)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecodeScore reads a score of ten items, with what they were
// computed from.
func BenchmarkDecodeScore(b *testing.B) {
	at := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	s := schemas.Score{Cluster: "spoke-1", Scorer: "bench", ValidUntil: &at, Basis: map[string]uint64{"SW_HUB": 1, "SW_METRICS": 2, "SW_CONFIG": 3}}
	for i := range 10 {
		value, raw := int32(i), float64(i)
		s.Items = append(s.Items, schemas.ScoreItem{Name: fmt.Sprint("item-", i), Value: &value, Raw: &raw, Reason: "Computed", Inputs: []schemas.ScoreInput{
			{Kind: "metric", Name: `bench_load{series="1"}`, Value: "0.5", Subject: "sw.metric.spoke-1.bench", Sequence: 123456, ObservedAt: &at},
		}})
	}
	data, err := json.Marshal(&s)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Decode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := schemas.Decode(schemas.TypeScoreComputed, data); err != nil {
				b.Fatal(err)
			}
		}
	})
	// What encoding/json alone takes, to compare.
	b.Run("encoding/json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := json.Unmarshal(data, new(schemas.Score)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
