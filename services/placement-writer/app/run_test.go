package app

import (
	"context"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

func TestRunBecomesReadyAndEnds(t *testing.T) {
	t.Parallel()
	s := eventstest.RunServer(t)
	b, err := jetstream.Connect(t.Context(), jetstream.Options{URL: s.URL(), Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.EnsureStreams(t.Context(), events.Streams()); err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Bus.URL = s.URL()
	rt := processtest.Runtime(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, o, rt) }()
	for deadline := time.Now().Add(20 * time.Second); !ready(rt); {
		if time.Now().After(deadline) {
			t.Fatalf("not ready: %v", rt.Health.CheckReady())
		}
		time.Sleep(5 * time.Millisecond)
	}
	if families, err := rt.Metrics.Gather(); err != nil || len(families) == 0 {
		t.Errorf("metrics: %d families, %v", len(families), err)
	}
	cancel()
	if err := <-done; ctx.Err() == nil || err == nil {
		t.Errorf("Run = %v, want the end of its context", err)
	}
}

// ready is false, too, until Run has added its check.
func ready(rt process.Runtime) bool {
	families, err := rt.Metrics.Gather()
	return err == nil && len(families) > 0 && rt.Health.CheckReady() == nil
}
