package ask

import (
	"fmt"
	"testing"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestExplainOfAClusterWithoutDetails: what was recomputed is right, and what
// would have to change is enough when it is supposed.
func TestExplainOfAClusterWithoutDetails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 30 {
		name := fmt.Sprintf("c%02d", i)
		w.cluster(name, func(c *schemas.Cluster) {
			if i == 25 {
				c.Taints = []schemas.Taint{{Key: "full", Effect: "NoSelect"}}
			}
		})
		w.score(name, "gpu", int32(60-2*i))
	}
	w.place("train", one, 1)
	at := w.decided("train", "c00")
	w.score("c20", "gpu", 99)
	w.decided("train", "c20")
	a, err := w.ask.Explain(w.within(), schemas.ExplainAsk{Namespace: "default", Name: "train", Cluster: "c20", Sequence: at})
	must(t, err)
	if !a.Recomputed || a.Verdict != schemas.ReplayEqual || a.Explanation.Reason != "RunnerUp" || *a.Explanation.Score != 20 || a.Rank != 21 || a.Eligible != 29 {
		t.Errorf("of the first decision: %+v", a)
	}
	a, err = w.ask.Explain(w.within(), schemas.ExplainAsk{Namespace: "default", Name: "train", Cluster: "c25"})
	must(t, err)
	if !a.Sufficient || len(a.Changes) != 2 || a.Changes[0].Kind != schemas.ChangeTaint || a.Changes[1].Want != "100" {
		t.Fatalf("changes are %+v", a.Changes)
	}
	value := int32(100)
	supposed := schemas.WhatIfAsk{
		Namespace: "default", Name: "train", Untaint: []schemas.WhatIfUntaint{{Cluster: "c25"}},
		Scores: []schemas.WhatIfScore{{Cluster: "c25", Scorer: "gpu", Value: &value}},
	}
	found, err := w.ask.WhatIf(w.within(), supposed)
	must(t, err)
	if len(found.Added) != 1 || found.Added[0] != "c25" || len(found.Removed) != 1 {
		t.Errorf("with those changes: %+v", found)
	}
	value = 99
	if found, err = w.ask.WhatIf(w.within(), supposed); err != nil || len(found.Added) != 0 {
		t.Errorf("with one less: %+v (%v)", found, err)
	}
}

// BenchmarkReplay is of a decision among many clusters.
func BenchmarkReplay(b *testing.B) {
	w := newWorld(b)
	for i := range 2000 {
		name := fmt.Sprintf("c%04d", i)
		w.cluster(name)
		w.score(name, "gpu", int32(i%100))
	}
	w.place("train", one, 1)
	at := w.decided("train", "c0099")
	for b.Loop() {
		w.replay("train", at, schemas.ReplayEqual)
	}
}
