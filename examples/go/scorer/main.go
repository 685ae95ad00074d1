// Command scorer scores each cluster by its free GPUs: none are 0 points, 8 or more are 100.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func main() {
	ctx := context.Background()
	bus, err := jetstream.Connect(ctx, jetstream.Options{URL: os.Getenv("NATS_URL"), Name: "gpu-go"})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(bus.Watch(ctx, events.Watch{Stream: events.StreamMetrics, Subjects: []string{"sw.metric.*.nvidia"}}, func(u events.Update) error {
		if r, err := u.Read(); err == nil && u.Kind == events.Stored { // what cannot be read is passed over
			cluster, until := r.Subject.Cluster, r.ObservedAt.Add(time.Minute)
			item := schemas.ScoreItem{Name: "gpu-go", Reason: "NoSample"}
			for _, s := range r.Payload.(*schemas.Metrics).Samples {
				if s.Name == "gpu_free" {
					value := int32(100 * min(s.Value, 8) / 8)
					item.Value, item.Reason = &value, "Computed"
				}
			}
			e, err := events.New(schemas.TypeScoreComputed, events.ScorerSource(cluster, "gpu-go"), &schemas.Score{Cluster: cluster, Scorer: "gpu-go", Items: []schemas.ScoreItem{item}, ValidUntil: &until})
			if err == nil {
				_, err = bus.Publish(ctx, events.ScoreSubject(cluster, "gpu-go"), e)
			}
			return err
		}
		return nil
	}))
}
