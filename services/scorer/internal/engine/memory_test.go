package engine

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestMemory holds 10,000 clusters of 50 series and states what they cost.
func TestMemory(t *testing.T) {
	const clusters, series, most = 10_000, 50, 200 << 20
	e := benchEngine(t, &accepting{})
	ctx := context.Background()
	e.Take(ctx, events.Batch{Synced: true, Updates: []events.Update{{Message: scorerMessage(t, "s", `linear(metric("series_3"), 0, 20)`)}}})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range clusters {
		m := &schemas.Metrics{}
		for s := range series {
			m.Samples = append(m.Samples, schemas.Sample{
				Name: fmt.Sprintf("series_%d", s), Value: float64(i), Labels: map[string]string{"instance": fmt.Sprintf("10.1.%d.%d:9100", s/10, s%10), "job": "node"},
			})
		}
		name := fmt.Sprintf("cluster-%d", i)
		header, data, err := events.Encode(newEvent(t, schemas.TypeMetricsObserved, events.ClusterSource(name, "node"), m))
		if err != nil {
			t.Fatal(err)
		}
		message := events.Message{Stream: events.StreamMetrics, Subject: events.MetricSubject(name, "node"), Sequence: uint64(i + 1), ReceivedAt: time.Now(), Header: header, Data: data}
		e.Take(ctx, events.Batch{Synced: true, Updates: []events.Update{{Message: message}}})
		e.Decide(ctx)
		for e.InFlight() > 0 {
			e.Await()
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := after.HeapAlloc - before.HeapAlloc
	t.Logf("%d clusters x %d series and one score each: %d MiB", clusters, series, used>>20)
	if used > most {
		t.Errorf("%d MiB are held, want at most %d", used>>20, most>>20)
	}
	runtime.KeepAlive(e)
}
