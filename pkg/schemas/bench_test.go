package schemas_test

import (
	"encoding/json"
	"fmt"
	"testing"

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
