package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestMain(m *testing.M) {
	if os.Getenv("NATS_URL") != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestItIsShort(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n >= 40 {
		t.Errorf("it has %d lines, want fewer than 40", n)
	}
}

// TestItScores runs the program beside a real server.
func TestItScores(t *testing.T) {
	url := eventstest.RunServer(t).URL()
	bus, err := jetstream.Connect(t.Context(), jetstream.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	if err := bus.EnsureStreams(t.Context(), events.Streams()); err != nil {
		t.Fatal(err)
	}
	publish := func(cluster string, samples ...schemas.Sample) {
		e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(cluster, "nvidia"), &schemas.Metrics{Samples: samples})
		if err == nil {
			_, err = bus.Publish(t.Context(), events.MetricSubject(cluster, "nvidia"), e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	publish("before", schemas.Sample{Name: "gpu_free", Value: 2})
	program := exec.CommandContext(t.Context(), os.Args[0])
	program.Env = append(os.Environ(), "NATS_URL="+url)
	program.Stdout, program.Stderr = t.Output(), t.Output()
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = program.Process.Kill()
		_ = program.Wait()
	})
	publish("after", schemas.Sample{Name: "gpu_free", Value: 99})
	publish("none", schemas.Sample{Name: "temperature", Value: 40})
	for cluster, want := range map[string]string{"before": "25 Computed", "after": "100 Computed", "none": "- NoSample"} {
		testwait.Eventually(t, cluster+" scores "+want, func() bool {
			m, err := bus.Last(t.Context(), events.StreamScores, events.ScoreSubject(cluster, "gpu-go"))
			if errors.Is(err, events.ErrNotFound) {
				return false
			}
			r, err := events.Read(m)
			if err != nil {
				t.Fatal(err)
			}
			item := r.Payload.(*schemas.Score).Items[0]
			if item.Value == nil {
				return "- "+item.Reason == want
			}
			return fmt.Sprintf("%d %s", *item.Value, item.Reason) == want
		})
	}
}
