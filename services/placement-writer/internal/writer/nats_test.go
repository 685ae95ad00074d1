package writer

import (
	"fmt"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

func connect(t testing.TB, url string) *jetstream.Bus {
	t.Helper()
	b, err := jetstream.Connect(t.Context(), jetstream.Options{URL: url, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func TestOnARealServer(t *testing.T) {
	t.Parallel()
	s := eventstest.RunServer(t)
	b := connect(t, s.URL())
	if err := b.EnsureStreams(t.Context(), events.Streams()); err != nil {
		t.Fatal(err)
	}
	h := hub{t, b}
	_, stop := start(t, connect(t, s.URL()), nil)
	start(t, connect(t, s.URL()), nil) // a second replica
	h.fleet("spoke-1", "spoke-2")
	h.score("spoke-1", 80, time.Hour)
	h.score("spoke-2", 20, time.Hour)
	h.place("train", onGPU)
	h.await("train", "spoke-1")
	h.score("spoke-2", 90, time.Hour)
	h.await("train", "spoke-2")

	stop()
	s.Stop()
	s.Start()
	h.cluster("spoke-3")
	h.score("spoke-3", 100, time.Hour)
	h.await("train", "spoke-3")

	start(t, connect(t, s.URL()), nil)
	h.delete(events.KindCluster, "", "spoke-3", "")
	d := h.await("train", "spoke-2")
	if d.Cause != placement.CauseClusterRemoved || d.Previous == 0 {
		t.Errorf("cause %s, previous %d", d.Cause, d.Previous)
	}
	h.delete(events.KindPlacement, "default", "train", "uid-train")
	h.eventually("the end of the decision", func() bool { return h.last("train") == nil }, func() any { return h.last("train") })
}

// BenchmarkScoreToDecisions changes one score among 1,000 clusters that moves
// 100 Placements, and waits for the last of their decisions.
func BenchmarkScoreToDecisions(b *testing.B) {
	s := eventstest.RunServer(b)
	bus := connect(b, s.URL())
	if err := bus.EnsureStreams(b.Context(), events.Streams()); err != nil {
		b.Fatal(err)
	}
	h := hub{b, bus}
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("spoke-%04d", i)
	}
	h.fleet(names...)
	for i, name := range names {
		h.score(name, int32(i%50), time.Hour)
	}
	for i := range 100 {
		h.place(fmt.Sprintf("p%02d", i), onGPU)
	}
	start(b, connect(b, s.URL()), nil)
	for i := range 100 {
		h.await(fmt.Sprintf("p%02d", i), "spoke-0049")
	}
	for i := 0; b.Loop(); i++ {
		winner, loser := names[i%2], names[1-i%2]
		h.score(loser, 50, time.Hour)
		h.score(winner, 100, time.Hour)
		for i := range 100 {
			h.await(fmt.Sprintf("p%02d", i), winner)
		}
	}
}
