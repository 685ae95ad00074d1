package ask

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func (w *world) cordon(cluster, state string) {
	w.t.Helper()
	w.put(events.ConfigSubject(events.KindCordon, "", cluster), schemas.TypeConfigCordon, &schemas.Cordon{
		APIVersion: schemas.CordonAPIVersion, Kind: schemas.CordonKind,
		Metadata: schemas.Metadata{Name: cluster}, Spec: schemas.CordonSpec{State: state, By: "kim"},
	})
}

// TestACordonIsAnInput: what was decided under a cordon, a drain or a
// rebalance follows from the log, also when that is long over.
func TestACordonIsAnInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, name := range []string{"a", "b", "c", "d"} {
		w.cluster(name)
		w.score(name, "gpu", int32(30-10*i))
	}
	// A Placement is not ordered behind a cordon; two cordons are.
	w.place("all", strings.Replace(one, `"numberOfClusters":1,`, "", 1), 1)
	w.decided("all", "a", "b", "c", "d")
	w.cordon("a", schemas.CordonCordoned)
	w.cordon("d", schemas.CordonDraining)
	w.decided("all", "a", "b", "c")
	w.place("train", one, 1)
	first := w.decided("train", "b")
	e, err := w.ask.Explain(w.within(), schemas.ExplainAsk{Namespace: "default", Name: "train", Cluster: "a"})
	must(t, err)
	lifts := slices.ContainsFunc(e.Changes, func(c schemas.Change) bool {
		return c.Kind == schemas.ChangeCordon && strings.Contains(c.Message, "cordoned by kim, which must end: spokewire uncordon a")
	})
	if e.Explanation == nil || e.Explanation.Reason != "Cordoned" || !lifts || !e.Sufficient {
		t.Errorf("a is explained as %+v, with the changes %+v, sufficient %v", e.Explanation, e.Changes, e.Sufficient)
	}
	w.cordon("b", schemas.CordonDraining)
	drained := w.decided("train", "c")
	w.cordon("a", schemas.CordonLifted)
	lifted := w.decided("train", "a")
	w.cordon("b", schemas.CordonLifted)
	for _, sequence := range []uint64{first, drained, lifted} {
		w.replay("train", sequence, schemas.ReplayEqual)
	}
	w.put(events.ConfigSubject(events.KindRebalance, "default", "train"), schemas.TypeConfigRebalance, &schemas.Rebalance{
		APIVersion: schemas.RebalanceAPIVersion, Kind: schemas.RebalanceKind,
		Metadata: schemas.Metadata{Namespace: "default", Name: "train"}, Spec: schemas.RebalanceSpec{ID: "r1"},
	})
	var rebalanced uint64
	w.eventually("the rebalance", func() bool {
		d, sequence := w.decision("train")
		rebalanced = sequence
		return d.Rebalance != nil && d.Cause == "Rebalance"
	})
	w.replay("train", rebalanced, schemas.ReplayEqual)
	must(t, w.ask.Audit(w.within(), schemas.AuditAsk{From: time.Unix(0, 0)}, func(a *schemas.AuditAnswer) error {
		if a.Counts[schemas.ReplayEqual] < 4 || len(a.Counts) > 1 {
			t.Errorf("an audit finds %v", a.Counts)
		}
		return nil
	}))
}

func TestWhatIfAClusterWereCordoned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, name := range []string{"a", "b"} {
		w.cluster(name)
		w.score(name, "gpu", int32(30-10*i))
	}
	w.cordon("b", schemas.CordonCordoned)
	w.place("train", one, 1)
	w.decided("train", "a")
	tests := map[string]struct {
		ask  schemas.WhatIfAsk
		want []string
	}{
		"cordoned keeps what it has":    {ask: schemas.WhatIfAsk{Cordon: []schemas.WhatIfCordon{{Cluster: "a", State: schemas.CordonCordoned}}}, want: []string{"a"}},
		"drained, and none other to be": {ask: schemas.WhatIfAsk{Cordon: []schemas.WhatIfCordon{{Cluster: "a", State: schemas.CordonDraining}}}, want: []string{"a"}},
		"forced out":                    {ask: schemas.WhatIfAsk{Cordon: []schemas.WhatIfCordon{{Cluster: "a", State: schemas.CordonDraining, Force: true}}}},
		"drained, and another is free": {ask: schemas.WhatIfAsk{Cordon: []schemas.WhatIfCordon{
			{Cluster: "a", State: schemas.CordonDraining}, {Cluster: "b", State: schemas.CordonLifted},
		}}, want: []string{"b"}},
		"rebalanced": {ask: schemas.WhatIfAsk{Rebalance: true}, want: []string{"a"}},
	}
	for name, tc := range tests {
		tc.ask.Namespace, tc.ask.Name = "default", "train"
		a, err := w.ask.WhatIf(w.within(), tc.ask)
		must(t, err)
		if got := selected(&a.Decision); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v would be selected, want %v", name, got, tc.want)
		}
	}
	_, err := w.ask.WhatIf(w.within(), schemas.WhatIfAsk{Namespace: "default", Name: "train", Cordon: []schemas.WhatIfCordon{{Cluster: "x", State: schemas.CordonCordoned}}})
	if err == nil || !strings.Contains(err.Error(), "cordon[0].cluster") {
		t.Errorf("of a cluster that is not there it says: %v", err)
	}
}
