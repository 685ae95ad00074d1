package ask

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestADecisionFollowsFromItsInputsLongAfter: the world moves on in every way
// that a decision depends on, and the decision before that is made again.
func TestADecisionFollowsFromItsInputsLongAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, name := range []string{"a", "b", "c"} {
		w.cluster(name)
		w.score(name, "gpu", int32(30-10*i))
	}
	w.place("train", one, 1)
	w.decided("train", "a")
	w.score("b", "gpu", 80)
	before := w.decided("train", "b")
	w.replay("train", before, schemas.ReplayEqual)

	w.cluster("b", func(c *schemas.Cluster) { c.Labels["region"] = "us" })
	w.decided("train", "a")
	w.replay("train", before, schemas.ReplayEqual)
	w.place("train", strings.Replace(one, `"numberOfClusters":1`, `"numberOfClusters":2`, 1), 2)
	w.decided("train", "a", "c")
	w.score("c", "gpu", 99)
	w.decided("train", "c", "a")
	w.cluster("d")
	w.score("d", "gpu", 100)
	w.decided("train", "d", "c")
	a := w.replay("train", before, schemas.ReplayEqual)
	if a.Decision.Sequence != before || len(a.Differences)+len(a.Expired) > 0 {
		t.Errorf("answered %+v", a)
	}
	w.replay("train", 0, schemas.ReplayEqual)
}

func (w *world) audit(from time.Time) (counts map[string]int, results []schemas.ReplayAnswer) {
	w.t.Helper()
	counts = map[string]int{}
	err := w.ask.Audit(w.within(), schemas.AuditAsk{From: from}, func(a *schemas.AuditAnswer) error {
		for verdict, n := range a.Counts {
			counts[verdict] += n
		}
		results = append(results, a.Results...)
		return nil
	})
	must(w.t, err)
	return counts, results
}

func TestAuditOfAPeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := time.Now().Add(-time.Minute)
	w.period()
	counts, results := w.audit(began)
	if counts[schemas.ReplayEqual] < 8 || len(counts) != 1 {
		t.Errorf("audit says %v: %+v", maps.Clone(counts), results)
	}
	t.Logf("audited: %v", counts)
}

// TestAuditOfReplicas: two count decisions of their own that the other was
// faster to replace, so what these counted is in no log. That is said, and no
// decision is found to be another.
func TestAuditOfReplicas(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, plainly, plainly)
	began := time.Now().Add(-time.Minute)
	w.period()
	counts, results := w.audit(began)
	if counts[schemas.ReplayEqual] < 8 || counts[schemas.ReplayDifferent] > 0 {
		t.Errorf("audit says %v: %+v", maps.Clone(counts), results)
	}
	for _, r := range results {
		if len(r.Expired) == 0 || !strings.Contains(r.Expired[0], "behind") {
			t.Errorf("%+v is not for a decision that was never stored", r)
		}
	}
	t.Logf("audited: %v", counts)
}

// period has several Placements that balance against each other, with clusters
// that come, go and are tainted while scores move.
func (w *world) period() {
	w.t.Helper()
	names := []string{"a", "b", "c", "d", "e"}
	for _, name := range names {
		w.cluster(name)
		w.score(name, "gpu", 10)
	}
	additive := strings.Replace(one, `"mode":"Exact"`, `"mode":"Additive"`, 1)
	for i := range 4 {
		w.place(fmt.Sprintf("p%d", i), additive, 1)
	}
	for i := range 4 {
		name := fmt.Sprintf("p%d", i)
		w.eventually("the beginning is decided", func() bool { d, _ := w.decision(name); return d != nil })
	}
	for round := range 24 {
		w.score(names[round%5], "gpu", int32(round*17%90))
		switch round % 6 {
		case 1:
			w.cluster(names[round%5], func(c *schemas.Cluster) {
				c.Taints = []schemas.Taint{{Key: "full", Effect: "NoSelect", TimeAdded: time.Now().UTC()}}
			})
		case 3:
			w.put(events.ScoreSubject(names[round%5], "gpu"), schemas.TypeScoreComputed, &schemas.Score{
				Cluster: names[round%5], Scorer: "gpu", Items: []schemas.ScoreItem{{Name: "gpu", Reason: schemas.ScoreNoSample}},
			})
		case 5:
			w.cluster(names[(round+1)%5])
		}
	}
	for i := range 4 {
		name := fmt.Sprintf("p%d", i)
		w.place(name, additive, 2)
		w.eventually("the end is decided", func() bool { d, _ := w.decision(name); return d != nil && d.Placement.Generation == 2 })
	}
}

// TestADecisionBesideGarbageFollows: replay steps back to what the
// placement-writer goes by, and says no more than it has lost.
func TestADecisionBesideGarbageFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, name := range []string{"a", "b", "c"} {
		w.cluster(name)
		w.score(name, "gpu", int32(30-10*i))
	}
	w.place("train", one, 1)
	w.decided("train", "a")
	set := func(name, operator string) {
		w.put(events.HubSubject(events.KindClusterSet, "", name), schemas.TypeHubClusterSet, &schemas.ClusterSet{
			Name: name, UID: "set", SelectorType: "LabelSelector", LabelSelector: fmt.Appendf(nil, `{"matchExpressions":[{"key":"region","operator":%q}]}`, operator),
		})
	}
	set("default", "Maybe")
	set("never", "Maybe")
	w.put(events.HubSubject(events.KindBinding, "default", "never"), schemas.TypeHubBinding, &schemas.Binding{Name: "never", Namespace: "default", UID: "n", ClusterSet: "never"})
	w.garbage(events.HubSubject(events.KindCluster, "", "b"))
	w.garbage(events.ScoreSubject("b", "gpu"))
	w.garbage(events.DecisionSubject(events.KindPlacement, "default", "train"))
	w.place("train", `{"numberOfClusters":"some"}`, 2)
	w.cluster("a", func(c *schemas.Cluster) { c.Taints = []schemas.Taint{{Key: "full", Effect: "NoSelect"}} })
	at := w.decided("train", "b")
	w.replay("train", at, schemas.ReplayEqual)

	w.place("lost", strings.Replace(one, `{`, `{"clusterSets":["never"],`, 1), 1)
	w.eventually("a set that never made sense is named", func() bool {
		d, _ := w.decision("lost")
		return d != nil && strings.Contains(d.Conditions[0].Message, "ManagedClusterSet never does not count")
	})
	w.replay("lost", 0, schemas.ReplayEqual)
}

// garbage stores what says that it is of a type which its subject never has.
func (w *world) garbage(subject string) {
	w.t.Helper()
	e, err := events.New(schemas.TypeHubBinding, events.ServiceSource("hub-bridge"), &schemas.Binding{Name: "x", Namespace: "x", UID: "x", ClusterSet: "x"})
	must(w.t, err)
	e.SetType(schemas.TypeHubPlacementDeleted)
	_, err = w.bus.Publish(w.within(), subject, e)
	must(w.t, err)
}

func TestExpiredInputsSaySo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	w.cluster("b")
	w.score("a", "gpu", 30)
	w.score("b", "gpu", 20)
	w.place("train", one, 1)
	first := w.decided("train", "a")
	w.replay("train", first, schemas.ReplayEqual)
	w.put(events.HubSubject(events.KindCluster, "", "b"), schemas.TypeHubClusterDeleted, &schemas.Deleted{Name: "b"}, events.Tombstone())
	if a := w.replay("train", first, schemas.ReplayExpired); strings.Join(a.Expired, ";") != "SW_HUB sw.hub.cluster._.b" {
		t.Errorf("expired are %q, want b, whose tombstone displaced it", a.Expired)
	}
	w.cluster("b")
	for n := range 70 {
		w.score("a", "gpu", int32(31+n%2))
	}
	if a := w.replay("train", first, schemas.ReplayExpired); !strings.Contains(strings.Join(a.Expired, ";"), "SW_SCORES sw.score.a.gpu") {
		t.Errorf("expired are %q, want the score of a, which has moved 70 times", a.Expired)
	}
	counts, _ := w.audit(time.Now().Add(-time.Hour))
	if counts[schemas.ReplayExpired] == 0 || counts[schemas.ReplayDifferent] > 0 {
		t.Errorf("the audit says %v, want some to have expired", counts)
	}
}

// TestADecisionThatDoesNotFollowIsFound: somebody else wrote it.
func TestADecisionThatDoesNotFollowIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	w.cluster("b")
	w.score("a", "gpu", 30)
	w.score("b", "gpu", 20)
	w.place("train", one, 1)
	w.decided("train", "a")
	d, sequence := w.decision("train")
	forged := *d
	forged.Clusters = []schemas.SelectedCluster{{Name: "b", Score: 20}}
	forged.Previous = sequence
	at := w.put(events.DecisionSubject(events.KindPlacement, "default", "train"), schemas.TypePlacementDecided, &forged)
	a := w.replay("train", at, schemas.ReplayDifferent)
	if len(a.Differences) == 0 || a.Differences[0] != (schemas.Difference{Field: "clusters", Was: "b", Is: "a"}) {
		t.Errorf("differences are %+v", a.Differences)
	}
	if counts, results := w.audit(time.Now().Add(-time.Hour)); counts[schemas.ReplayDifferent] != 1 || len(results) != 1 {
		t.Errorf("the audit says %v: %+v", counts, results)
	}
}

func TestQuestionsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, tc := range map[string]struct {
		subject, body, wantField string
		wantCode                 int
	}{
		"not JSON":        {events.AskReplay, "{", "data", events.RefusedBad},
		"no name":         {events.AskReplay, `{"namespace":"default","name":""}`, "name", events.RefusedBad},
		"unknown field":   {events.AskReplay, `{"namespace":"default","name":"x","seq":1}`, "seq", events.RefusedBad},
		"no decision":     {events.AskReplay, `{"namespace":"default","name":"x"}`, "name", events.RefusedUnknown},
		"no sequence":     {events.AskExplain, `{"namespace":"default","name":"x","cluster":"a","sequence":9}`, "sequence", events.RefusedUnknown},
		"no placement":    {events.AskWhatIf, `{"namespace":"default","name":"x"}`, "name", events.RefusedBad},
		"period":          {events.AskAudit, `{"from":"2026-11-30T12:00:00Z","to":"2026-11-29T12:00:00Z"}`, "to", events.RefusedBad},
		"far too large":   {events.AskWhatIf, strings.Repeat(" ", 300<<10), "", events.RefusedTooLarge},
		"unknown cluster": {events.AskWhatIf, `{"namespace":"default","name":"x","placement":{"spec":{}},"remove":["z"]}`, "remove[0]", events.RefusedBad},
		"no spec":         {events.AskWhatIf, `{"namespace":"default","name":"x","placement":{"spec":{"numberOfClusters":"x"}}}`, "placement.spec", events.RefusedBad},
	} {
		_, err := w.bus.Request(w.within(), tc.subject, []byte(tc.body))
		var refusal *events.Refusal
		if !errors.As(err, &refusal) || refusal.Code != tc.wantCode || refusal.Field != tc.wantField {
			t.Errorf("%s: got %#v (%v), want %d of field %q", name, refusal, err, tc.wantCode, tc.wantField)
		}
	}
}
