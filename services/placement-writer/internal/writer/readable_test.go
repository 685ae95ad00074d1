package writer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// set publishes set "default", by a selector that may make no sense.
func (h hub) set(operator string) {
	h.t.Helper()
	h.publish(events.HubSubject(events.KindClusterSet, "", "default"), schemas.TypeHubClusterSet, bridge, &schemas.ClusterSet{
		Name: "default", UID: "set", SelectorType: "LabelSelector",
		LabelSelector: fmt.Appendf(nil, `{"matchExpressions":[{"key":"cluster.open-cluster-management.io/clusterset","operator":%q}]}`, operator),
	})
}

// garbage publishes an event of a type that its subject does not have.
func (h hub) garbage(subject string) {
	h.t.Helper()
	e, err := events.New(schemas.TypeHubBinding, bridge, &schemas.Binding{Name: "x", Namespace: "x", UID: "x", ClusterSet: "x"})
	if err != nil {
		h.t.Fatal(err)
	}
	e.SetType(schemas.TypeHubPlacementDeleted)
	h.send(subject, e)
}

// spoil makes the last event of what decisions rest on unreadable.
func (h hub) spoil(cluster string) {
	h.t.Helper()
	h.set("Foo")
	h.garbage(events.ScoreSubject(cluster, "gpu"))
	h.garbage(events.HubSubject(events.KindCluster, "", cluster))
	h.garbage(events.HubSubject(events.KindBinding, "default", "default"))
}

// TestRestartAndReplicaReadPastTheUnreadable: what was selected stays so, and
// two writers of which one has just begun do not argue.
func TestRestartAndReplicaReadPastTheUnreadable(t *testing.T) {
	t.Parallel()
	s := eventstest.RunServer(t)
	b := connect(t, s.URL())
	if err := b.EnsureStreams(t.Context(), events.Streams()); err != nil {
		t.Fatal(err)
	}
	h := hub{t, b}
	_, stop := start(t, connect(t, s.URL()), nil)
	h.fleet("a", "b", "c")
	h.set("Exists")
	for i, name := range []string{"a", "b", "c"} {
		h.score(name, int32(90-10*i), time.Hour)
	}
	h.place("train", onGPU)
	h.await("train", "a")
	h.spoil("a")
	h.place("beside", onGPU)
	h.await("beside", "a")
	stop()

	start(t, connect(t, s.URL()), nil)
	h.place("restarted", onGPU)
	h.await("restarted", "a")
	start(t, connect(t, s.URL()), nil) // a replica
	h.cluster("c", schemas.Taint{Key: "k", Effect: "NoSelect"})
	h.cluster("a", schemas.Taint{Key: "k", Effect: "NoSelect"})
	for _, name := range []string{"train", "beside", "restarted"} {
		d := h.await(name, "b")
		if d.Cause != placement.CauseTaintChanged || !slices.Equal(d.Removed, []string{"a"}) {
			t.Errorf("%s: %s because of %s, want a to be out because of its taint", name, d.Message, d.Cause)
		}
	}
}

// TestADecisionBeforeGarbageCounts, and the next one says that it follows it.
func TestADecisionBeforeGarbageCounts(t *testing.T) {
	for name, restart := range map[string]bool{"running": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := eventstest.NewBus()
				h := hub{t, b}
				_, stop := start(t, b.Peer(), nil)
				h.fleet("a", "b")
				h.place("train", `{"numberOfClusters":1}`)
				synctest.Wait()
				m, err := b.Last(t.Context(), events.StreamDecisions, decisionSubject("train"))
				if err != nil {
					t.Fatal(err)
				}
				if restart {
					stop()
				}
				h.garbage(decisionSubject("train"))
				if restart {
					start(t, b.Peer(), nil)
				}
				synctest.Wait()
				h.cluster("a", schemas.Taint{Key: "k", Effect: "NoSelect"})
				synctest.Wait()
				d := h.await("train", "b")
				if d.Previous != m.Sequence || d.Cause != placement.CauseTaintChanged || !slices.Equal(d.Removed, []string{"a"}) {
					t.Errorf("it follows %d because of %s, want %d and the taint: %s", d.Previous, d.Cause, m.Sequence, d.Message)
				}
			})
		})
	}
}

func TestASetThatNeverMadeSenseIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a")
		h.set("Foo") // after one that makes sense
		odd := &schemas.ClusterSet{Name: "odd", UID: "odd", SelectorType: "LabelSelector", LabelSelector: []byte(`{"matchExpressions":[{"key":"k","operator":"Like"}]}`)}
		h.publish(events.HubSubject(events.KindClusterSet, "", "odd"), schemas.TypeHubClusterSet, bridge, odd)
		h.publish(events.HubSubject(events.KindBinding, "default", "odd"), schemas.TypeHubBinding, bridge, &schemas.Binding{Name: "odd", Namespace: "default", UID: "odd", ClusterSet: "odd"})
		h.place("in-odd", `{"clusterSets":["odd"]}`)
		h.place("in-both", `{"clusterSets":["odd","default"]}`)
		start(t, b.Peer(), nil)
		synctest.Wait()
		d := h.last("in-odd")
		for _, want := range []string{"ManagedClusterSet odd does not count", "spec.clusterSelector.labelSelector", `"Like"`} {
			if got := d.Conditions[0].Message; !strings.Contains(got, want) {
				t.Errorf("condition %q does not say %s", got, want)
			}
		}
		if got := placement.SelectedNames(h.last("in-both")); !slices.Equal(got, []string{"a"}) {
			t.Errorf("the other set's clusters are not selected: %v", got)
		}
	})
}

// TestOldAndNewWritersAgree: whatever came, unreadable or not, and however
// often the reading broke off, a writer that was there all the time would
// decide as one that begins now.
func TestOldAndNewWritersAgree(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { agree(t, rand.New(rand.NewPCG(seed, 2))) })
		})
	}
}

func agree(t *testing.T, random *rand.Rand) {
	b := eventstest.NewBus()
	h, peer := hub{t, b}, b.Peer()
	h.fleet("a", "b", "c", "d")
	old, stopOld := start(t, peer, nil)
	for range 300 {
		h.anything(random)
		switch random.IntN(30) {
		case 0:
			peer.Disconnect()
		case 1:
			peer.Reconnect()
		case 2:
			synctest.Wait()
		}
	}
	peer.Reconnect()
	time.Sleep(time.Minute)
	synctest.Wait()
	stopOld()
	fresh, stopFresh := start(t, b.Peer(), nil)
	synctest.Wait()
	stopFresh()
	for _, spec := range []string{onGPU, `{"clusterSets":["default"]}`, `{}`} {
		want, got := wouldDecide(t, fresh, spec), wouldDecide(t, old, spec)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the old writer would decide otherwise than the new one (-new +old):\n%s", diff)
		}
	}
	for k, d := range fresh.desks {
		o := old.desks[k]
		if o == nil {
			t.Errorf("the old writer does not know %s", k)
		} else if diff := cmp.Diff(objectOf(d), objectOf(o)); diff != "" {
			t.Errorf("%s (-new +old):\n%s", k, diff)
		}
	}
}

func objectOf(d *desk) schemas.Placement {
	if d.object == nil {
		return schemas.Placement{}
	}
	return d.object.Object
}

// anything publishes something that may be unreadable, mostly so.
func (h hub) anything(random *rand.Rand) {
	cluster := string(rune('a' + random.IntN(4)))
	bad := random.IntN(8) > 0
	switch kind := random.IntN(5); {
	case kind == 0 && bad:
		h.garbage(events.ScoreSubject(cluster, "gpu"))
	case kind == 0:
		h.score(cluster, int32(random.IntN(100)), 24*time.Hour)
	case kind == 1 && bad:
		h.garbage(events.HubSubject(events.KindCluster, "", cluster))
	case kind == 1 && random.IntN(4) == 0:
		h.delete(events.KindCluster, "", cluster, "")
	case kind == 1:
		h.cluster(cluster, slices.Repeat([]schemas.Taint{{Key: "k", Effect: "NoSelect"}}, random.IntN(2))...)
	case kind == 2:
		h.set([]string{"Foo", "Exists", "Bar", "DoesNotExist"}[random.IntN(4)])
	case kind == 3 && bad:
		h.garbage(events.HubSubject(events.KindBinding, "default", "default"))
	case kind == 3:
		h.publish(events.HubSubject(events.KindBinding, "default", "default"), schemas.TypeHubBinding, bridge,
			&schemas.Binding{Name: "default", Namespace: "default", UID: "binding", ClusterSet: []string{"default", "other"}[random.IntN(2)]})
	case bad:
		h.place("train", `{"numberOfClusters":"two"}`)
	default:
		h.place("train", []string{onGPU, `{}`}[random.IntN(2)])
	}
}

// wouldDecide is the first decision of a Placement by what w knows.
func wouldDecide(t *testing.T, w *Writer, spec string) schemas.PlacementDecision {
	t.Helper()
	p, err := placement.Parse(schemas.Placement{Namespace: "default", Name: "probe", UID: "probe", Direct: true, Spec: []byte(spec)})
	if err != nil {
		t.Fatal(err)
	}
	return placement.Decide(placement.Input{Placement: p, Fleet: w.fleet}, time.Now())
}
