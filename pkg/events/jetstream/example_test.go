package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Publish the current samples of one source of one cluster. Each event is
// the whole state of its source: a series that is not in it is gone.
func Example_publish() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	url, stop := startServer()
	defer stop()

	bus, err := jetstream.Connect(ctx, jetstream.Options{URL: url, Name: "example"})
	if err != nil {
		log.Fatal(err)
	}
	defer bus.Close()
	if err := bus.EnsureStreams(ctx, events.Streams()); err != nil {
		log.Fatal(err)
	}

	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource("spoke-1", "example"), &schemas.Metrics{
		Samples: []schemas.Sample{{Name: "gpu_free", Value: 3}},
	})
	if err != nil {
		log.Fatal(err)
	}
	ack, err := bus.Publish(ctx, events.MetricSubject("spoke-1", "example"), e)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ack.Stream, ack.Sequence)
	// Output: SW_METRICS 1
}

// Read the last decision of every Placement, then follow.
func Example_subscribe() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	url, stop := startServer()
	defer stop()
	bus := connectExample(ctx, url)
	defer bus.Close()
	decide(ctx, bus, "spoke-1")
	decide(ctx, bus, "spoke-2")

	enough := errors.New("enough")
	err := bus.Watch(ctx, events.Watch{Stream: events.StreamDecisions}, func(u events.Update) error {
		switch u.Kind {
		case events.Synced: // what is decided from here on follows
			fmt.Println("synced")
			decide(ctx, bus, "spoke-3")
			return nil
		case events.Stored:
			r, err := events.Read(u.Message)
			if err != nil {
				return err
			}
			d, ok := r.Payload.(*schemas.PlacementDecision)
			if !ok {
				return nil // a tombstone
			}
			fmt.Println(d.Placement.Namespace, d.Placement.Name, d.Clusters[0].Name)
			if d.Clusters[0].Name == "spoke-3" {
				return enough
			}
		}
		return nil
	})
	if !errors.Is(err, enough) {
		log.Fatal(err)
	}
	// Output:
	// default train spoke-2
	// synced
	// default train spoke-3
}

// decide publishes a decision, as the placement-writer does.
func decide(ctx context.Context, bus *jetstream.Bus, cluster string) {
	e, err := events.New(schemas.TypePlacementDecided, events.ServiceSource("example"), exampleDecision(cluster))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := bus.Publish(ctx, events.DecisionSubject(events.KindPlacement, "default", "train"), e); err != nil {
		log.Fatal(err)
	}
}

func exampleDecision(cluster string) *schemas.PlacementDecision {
	return &schemas.PlacementDecision{
		Placement: schemas.PlacementRef{Namespace: "default", Name: "train", UID: "2f1a"},
		Mode:      schemas.ModeDirect, Scheduler: "spokewire", Cause: "ScoreChanged", Now: time.Now(),
		Clusters: []schemas.SelectedCluster{{Name: cluster, Score: 100}},
	}
}

func connectExample(ctx context.Context, url string) *jetstream.Bus {
	bus, err := jetstream.Connect(ctx, jetstream.Options{URL: url})
	if err != nil {
		log.Fatal(err)
	}
	if err := bus.EnsureStreams(ctx, events.Streams()); err != nil {
		log.Fatal(err)
	}
	return bus
}

// startServer stands for the NATS server that you have.
func startServer() (url string, stop func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: dir, JetStreamMaxStore: 1 << 40,
	})
	if err != nil {
		log.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		log.Fatal("nats-server is not ready")
	}
	return s.ClientURL(), func() {
		s.Shutdown()
		s.WaitForShutdown()
		_ = os.RemoveAll(dir)
	}
}
