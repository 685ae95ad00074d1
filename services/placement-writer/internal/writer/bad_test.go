package writer

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestBadInputIsBuriedAndHarmsNoNeighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a", "b")
		h.score("a", 7, time.Hour)
		h.score("b", 5, time.Hour)
		h.place("good", onGPU)
		h.place("bad", `{"numberOfClusters":"two"}`)
		h.place("unknown-set", `{"clusterSets":["nowhere"]}`) // a condition, not bad input
		h.publish(events.HubSubject(events.KindClusterSet, "", "odd"), schemas.TypeHubClusterSet, bridge,
			&schemas.ClusterSet{Name: "odd", UID: "odd", SelectorType: "LabelSelector", LabelSelector: []byte(`{"matchExpressions":[{"key":"k","operator":"Like"}]}`)})
		b.Store(events.ScoreSubject("b", "gpu"), events.Header{"ce-specversion": {"1.0"}}, []byte("NaN"))
		b.Store(events.HubSubject(events.KindCluster, "", "c"), nil, []byte("{"))
		start(t, b.Peer(), nil)
		synctest.Wait()
		reasons := map[string]string{}
		for _, m := range b.Messages(events.StreamDead) {
			r, err := events.Read(m)
			if err != nil {
				t.Fatal(err)
			}
			letter := r.Payload.(*schemas.DeadLetter)
			reasons[letter.Subject] = letter.Reason + " " + letter.Field
		}
		want := map[string]string{
			events.HubSubject(events.KindPlacement, "default", "bad"): "BadPlacement spec",
			events.HubSubject(events.KindClusterSet, "", "odd"):       "BadClusterSet spec.clusterSelector.labelSelector",
			events.ScoreSubject("b", "gpu"):                           "NotCloudEvent id",
			events.HubSubject(events.KindCluster, "", "c"):            "NotCloudEvent specversion",
		}
		if !maps.Equal(reasons, want) {
			t.Errorf("dead letters %v, want %v", reasons, want)
		}
		if got := placement.SelectedNames(h.last("good")); !slices.Equal(got, []string{"a"}) {
			t.Errorf("the good Placement selects %v", got)
		}
		if d := h.last("unknown-set"); d.Conditions[0].Reason != placement.ReasonNoIntersect || !strings.Contains(d.Conditions[0].Message, "nowhere") {
			t.Errorf("condition %+v", d.Conditions[0])
		}
		if d := h.last("bad"); d != nil {
			t.Error("a decision was made of a spec that does not parse")
		}
	})
}

func TestGarbageOnADecisionSubjectIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a")
		h.place("train", `{}`)
		b.Store(decisionSubject("train"), nil, []byte("garbage"))
		start(t, b.Peer(), nil)
		synctest.Wait()
		if got := placement.SelectedNames(h.last("train")); !slices.Equal(got, []string{"a"}) {
			t.Errorf("selected %v", got)
		}
	})
}

func TestTooLargeADecisionStopsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		names := []string{}
		for c := 'a'; c <= 'z'; c++ {
			names = append(names, strings.Repeat(string(c), 40))
		}
		h.fleet(names...)
		synctest.Wait()
		b.SetMaxPayload(4000)
		h.place("large", `{}`)
		h.place("small", `{"numberOfClusters":0}`)
		synctest.Wait()
		if h.last("large") != nil || h.last("small") == nil {
			t.Error("want a decision of the small Placement alone")
		}
		b.SetMaxPayload(1 << 20)
		h.cluster("another")
		synctest.Wait()
		if d := h.last("large"); d == nil || len(d.Clusters) != 27 {
			t.Errorf("the next event did not mend it: %+v", d)
		}
	})
}
