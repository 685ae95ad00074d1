package app_test

import (
	"fmt"
	"slices"
	"testing"
)

// TestWholeFleet carries a decision that selects 10,000 clusters over a real
// nats-server into 100 PlacementDecisions, and then one that exchanges some.
func TestWholeFleet(t *testing.T) {
	t.Parallel()
	e := prepare(t)
	e.bus = onNATS(t)
	e.run()
	p := e.placement("everywhere", true)
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprintf("spoke-%05d", i)
	}
	all := decision(p, names...)
	for i := range all.Clusters {
		all.Clusters[i].Score = int64(i % 101)
	}
	e.applied(all)
	e.selects(p.Name, slices.Clone(names)...)
	if n := len(e.pages(p.Name)); n != 100 {
		t.Errorf("%d pages hold 10,000 clusters, want 100", n)
	}

	// In another order, and with three exchanged: only their pages are
	// written.
	e.calls.take()
	slices.Reverse(all.Clusters)
	for i, at := range []int{0, 5000, 9999} {
		all.Clusters[at].Name = fmt.Sprintf("other-%d", i)
		names[len(names)-1-at] = all.Clusters[at].Name
	}
	e.applied(all)
	e.selects(p.Name, slices.Clone(names)...)
	if writes := e.calls.take(); len(writes) != 3 {
		t.Errorf("three moves among 10,000 took %d writes, want 3", len(writes))
	}
}
