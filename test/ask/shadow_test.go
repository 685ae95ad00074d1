package ask

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// shadow places a Placement that OCM decides, and we in shadow.
func (w *world) shadow(name, spec string, generation int64) {
	w.t.Helper()
	w.put(events.HubSubject(events.KindPlacement, "default", name), schemas.TypeHubPlacement, &schemas.Placement{
		Name: name, Namespace: "default", UID: "uid-" + name, Generation: generation, Spec: json.RawMessage(spec),
		Annotations: map[string]string{schemas.AnnotationMode: schemas.ModeShadow},
	})
}

// native says what OCM has selected, as the bridge does.
func (w *world) native(name string, clusters ...string) {
	w.t.Helper()
	ref := schemas.PlacementRef{Namespace: "default", Name: name, UID: "uid-" + name, Generation: 1}
	observed := &schemas.ObservedDecision{Placement: ref, Writer: "ocm"}
	d := &schemas.PlacementDecision{Placement: ref, Mode: schemas.ModeNative, Scheduler: "ocm", Cause: "ObservedOnHub", Now: time.Now(), Clusters: []schemas.SelectedCluster{}}
	for _, c := range clusters {
		observed.Clusters = append(observed.Clusters, schemas.ObservedCluster{Name: c})
		d.Clusters = append(d.Clusters, schemas.SelectedCluster{Name: c})
	}
	w.put(events.HubSubject(events.KindPlacementDecision, "default", name), schemas.TypeHubPlacementDecision, observed)
	w.put(events.DecisionSubject(events.KindPlacement, "default", name), schemas.TypePlacementDecided, d)
}

func (w *world) inShadow(name, want string) uint64 {
	w.t.Helper()
	var at uint64
	w.eventually(name+" selects "+want+" in shadow", func() bool {
		m, err := w.bus.Last(w.within(), events.StreamDecisions, events.DecisionSubject(events.KindShadow, "default", name))
		if errors.Is(err, events.ErrNotFound) {
			return false
		}
		must(w.t, err)
		r, err := events.Read(m)
		must(w.t, err)
		at = m.Sequence
		d, ok := r.Payload.(*schemas.PlacementDecision)
		return ok && len(d.Clusters) == 1 && d.Clusters[0].Name == want
	})
	return at
}

// TestShadowDecisionsAreAnsweredFor: what is asked of a Placement in shadow is
// asked of our decisions, although OCM's are in the same stream.
func TestShadowDecisionsAreAnsweredFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := time.Now().Add(-time.Minute)
	for i, name := range []string{"a", "b", "c"} {
		w.cluster(name)
		w.score(name, "gpu", int32(80-10*i))
	}
	w.native("train", "c")
	w.native("other", "a")
	additive := strings.Replace(one, `"mode":"Exact"`, `"mode":"Additive"`, 1) // with Balance and Steady
	w.shadow("train", additive, 1)
	first := w.inShadow("train", "c") // OCM's: Steady is worth more than the lead
	w.score("a", "gpu", 100)
	w.score("b", "gpu", 90)
	w.score("c", "gpu", -100)
	moved := w.inShadow("train", "b") // a is taken by other
	w.native("train", "a")
	w.native("other", "b")

	for _, at := range []uint64{first, moved} {
		w.replay("train", at, schemas.ReplayEqual)
	}
	if a := w.replay("train", 0, schemas.ReplayEqual); a.Decision.Sequence < moved {
		t.Errorf("without a sequence, %d is replayed, want the last in shadow, %d or later", a.Decision.Sequence, moved)
	}
	why, err := w.ask.Explain(w.within(), schemas.ExplainAsk{Namespace: "default", Name: "train", Cluster: "c"})
	must(t, err)
	if why.Verdict != schemas.ReplayEqual || why.Explanation == nil || why.Explanation.Reason != "RunnerUp" || len(why.Changes) == 0 {
		t.Errorf("explained by %+v", why)
	}
	score := int32(-100)
	what, err := w.ask.WhatIf(w.within(), schemas.WhatIfAsk{Namespace: "default", Name: "train", Scores: []schemas.WhatIfScore{{Cluster: "b", Scorer: "gpu", Value: &score}}})
	must(t, err)
	if what.Decision.Mode != schemas.ModeShadow || what.Today == nil || what.Today.Sequence < moved || len(what.Added) != 1 || what.Added[0] != "a" || what.Removed[0] != "b" {
		t.Errorf("what if: %+v", what)
	}
	counts, results := w.audit(began)
	if counts[schemas.ReplayEqual] < 2 || counts[schemas.ReplayNotOurs] != 4 || len(results) > 0 {
		t.Errorf("the audit counts %v, with %+v", counts, results)
	}
}
