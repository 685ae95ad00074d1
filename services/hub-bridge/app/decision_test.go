package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestDecisionIsApplied(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	d := decision(p, "b", "a")
	d.Origin = &schemas.Origin{ID: "x", Subject: "sw.metric.a.b", ReceivedAt: time.Now().Add(-time.Second)}
	receipt := e.applied(d)
	if receipt.OriginLagMillis < 1000 || len(receipt.Objects) != 2 || receipt.Objects[0].ResourceVersion == "" {
		t.Errorf("receipt is %+v", *receipt)
	}
	pages := e.pages("train")
	if len(pages) != 1 || pages[0].Name != "train-decision-1" {
		t.Fatalf("pages are %+v", pages)
	}
	wantLabels := map[string]string{
		clusterv1beta1.PlacementLabel: "train", clusterv1beta1.DecisionGroupIndexLabel: "0", clusterv1beta1.DecisionGroupNameLabel: "",
		bridge.LabelManagedBy: bridge.ManagedBy,
	}
	for key, want := range wantLabels {
		if got, ok := pages[0].Labels[key]; !ok || got != want {
			t.Errorf("label %s is %q (%t), want %q", key, got, ok, want)
		}
	}
	if !metav1.IsControlledBy(&pages[0], p) {
		t.Errorf("owners are %+v", pages[0].OwnerReferences)
	}
	e.selects("train", "a", "b")

	p = e.get("train")
	if s := p.Status; s.NumberOfSelectedClusters != 2 || len(s.DecisionGroups) != 1 || s.DecisionGroups[0].ClustersCount != 2 ||
		!slices.Equal(s.DecisionGroups[0].Decisions, []string{"train-decision-1"}) || len(s.Conditions) != 1 {
		t.Errorf("the Placement's status is %+v", s)
	}

	// A move is one write, and the condition keeps its time.
	e.calls.take()
	e.applied(decision(p, "b", "c"))
	e.selects("train", "b", "c")
	if writes := e.calls.take(); len(writes) != 1 {
		t.Errorf("a move took the writes %v, want one", writes)
	}
	if tracked := e.pages("train")[0].ManagedFields; len(tracked) > 0 {
		t.Errorf("the page has managed fields, which double the cost of a write: %v", tracked)
	}
	if now := e.get("train"); !now.Status.Conditions[0].LastTransitionTime.Equal(&p.Status.Conditions[0].LastTransitionTime) {
		t.Error("the condition's lastTransitionTime changed though its status did not")
	}
}

func (e *env) get(placement string) *clusterv1beta1.Placement {
	e.t.Helper()
	p, err := e.hub.ClusterV1beta1().Placements(e.ns).Get(e.t.Context(), placement, metav1.GetOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	return p
}

func TestEmptyDecisionKeepsAPage(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("none", true)
	e.applied(decision(p))
	if pages := e.pages("none"); len(pages) != 1 || len(pages[0].Status.Decisions) != 0 {
		t.Errorf("pages are %+v, want one without decisions", pages)
	}
}

func TestPaging(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("wide", true)
	var names []string
	for i := range 250 {
		names = append(names, fmt.Sprintf("c%03d", i))
	}
	e.applied(decision(p, names...))
	pages := e.pages("wide")
	if len(pages) != 3 || len(pages[0].Status.Decisions) != 100 || len(pages[2].Status.Decisions) != 50 {
		t.Fatalf("%d pages", len(pages))
	}
	if got := e.get("wide").Status.DecisionGroups[0].Decisions; !slices.Equal(got, []string{"wide-decision-1", "wide-decision-2", "wide-decision-3"}) {
		t.Errorf("the Placement's status names the pages %v", got)
	}

	e.calls.take()
	moved := slices.Clone(names)
	moved[120] = "x"
	e.applied(decision(p, moved...))
	e.selects("wide", slices.Clone(moved)...)
	if writes := e.calls.take(); len(writes) != 1 {
		t.Errorf("a move among 250 took the writes %v, want one", writes)
	}

	e.applied(decision(p, names[:20]...))
	e.selects("wide", names[:20]...)
	if pages := e.pages("wide"); len(pages) != 1 {
		t.Errorf("%d pages for 20 clusters, want 1", len(pages))
	}
}

func TestOthersEditsAreRestored(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	d := decision(p, "a", "b")
	sequence := e.decide(d)
	e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied)
	decisions := e.hub.ClusterV1beta1().PlacementDecisions(e.ns)

	e.retry(func() error {
		edited := e.pages("train")[0]
		edited.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "evil"}}
		_, err := decisions.UpdateStatus(t.Context(), &edited, metav1.UpdateOptions{})
		return err
	})
	e.selects("train", "a", "b")
	if r := e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied); r.Reason != bridge.ReasonRestored {
		eventually(t, "a receipt of the restoration", func() error {
			if r := e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied); r.Reason != bridge.ReasonRestored {
				return fmt.Errorf("it is %+v", *r)
			}
			return nil
		})
	}

	gone := e.pages("train")[0]
	if err := decisions.Delete(t.Context(), gone.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the page is there again", func() error {
		if pages := e.pages("train"); len(pages) != 1 || pages[0].UID == gone.UID {
			return fmt.Errorf("pages are %+v", pages)
		}
		return nil
	})
	e.selects("train", "a", "b")

	for _, spoil := range []func(*clusterv1beta1.PlacementDecision){
		func(p *clusterv1beta1.PlacementDecision) { p.Labels = nil },
		func(p *clusterv1beta1.PlacementDecision) { p.OwnerReferences = nil },
		func(p *clusterv1beta1.PlacementDecision) { p.Labels[clusterv1beta1.DecisionGroupIndexLabel] = "7" },
	} {
		e.retry(func() error {
			spoilt, err := decisions.Get(t.Context(), "train-decision-1", metav1.GetOptions{})
			if err != nil {
				return err
			}
			spoil(spoilt)
			_, err = decisions.Update(t.Context(), spoilt, metav1.UpdateOptions{})
			return err
		})
		eventually(t, "the page is restored", func() error {
			pages := e.pages("train")
			if len(pages) != 1 || !bridge.Ours(&pages[0]) || !metav1.IsControlledBy(&pages[0], p) ||
				pages[0].Labels[clusterv1beta1.DecisionGroupIndexLabel] != "0" || len(pages[0].Status.Decisions) != 2 {
				return fmt.Errorf("pages are %+v", pages)
			}
			return nil
		})
	}

	e.retry(func() error {
		stripped := e.get("train")
		stripped.Status = clusterv1beta1.PlacementStatus{Conditions: []metav1.Condition{}, DecisionGroups: []clusterv1beta1.DecisionGroupStatus{}}
		_, err := e.hub.ClusterV1beta1().Placements(e.ns).UpdateStatus(t.Context(), stripped, metav1.UpdateOptions{})
		return err
	})
	eventually(t, "the Placement's status is restored", func() error {
		if n := e.get("train").Status.NumberOfSelectedClusters; n != 2 {
			return fmt.Errorf("numberOfSelectedClusters is %d", n)
		}
		return nil
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	e := start(t)
	direct, native := e.placement("direct", true), e.placement("native", false)
	tests := map[string]struct {
		change func() *schemas.PlacementDecision
		want   string
	}{
		"of another Placement that had the name": {func() *schemas.PlacementDecision {
			d := decision(direct, "a")
			d.Placement.UID = "gone"
			return d
		}, bridge.ReasonUIDMismatch},
		"OCM decides": {func() *schemas.PlacementDecision { return decision(native, "a") }, bridge.ReasonNotDirect},
		"no such Placement": {func() *schemas.PlacementDecision {
			d := decision(direct, "a")
			d.Placement.Name = "nowhere"
			return d
		}, bridge.ReasonNotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tt.change()
			r := e.receipt(events.KindPlacement, d.Placement.Name, e.decide(d), schemas.OutcomeRefused)
			if r.Reason != tt.want || r.Message == "" {
				t.Errorf("receipt is %+v, want reason %s and a message", *r, tt.want)
			}
			if pages := e.pages(d.Placement.Name); len(pages) != 0 {
				t.Errorf("%d pages were written", len(pages))
			}
		})
	}
}

func TestBadDecisionIsBuried(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	event, err := events.New(schemas.TypePlacementDecided, events.ServiceSource("test"), decision(p, "a"))
	if err != nil {
		t.Fatal(err)
	}
	event.DataEncoded = []byte(`{"placement": 7}`)
	ack, err := e.bus.Publish(t.Context(), events.DecisionSubject(events.KindPlacement, e.ns, "train"), event)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a dead letter", func() error {
		letter, err := last[*schemas.DeadLetter](e, events.StreamDead, events.DeadSubject("hub-bridge", events.StreamDecisions, ack.Sequence))
		if err == nil && letter.Field != "placement" {
			return fmt.Errorf("it names field %q", letter.Field)
		}
		return err
	})
	e.applied(decision(p, "a")) // the next one is not harmed

	odd := decision(p, "b")
	odd.Clusters[0].Group = 3
	sequence := e.decide(odd)
	if r := e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeRefused); r.Reason != bridge.ReasonBadDecision {
		t.Errorf("reason is %s", r.Reason)
	}
	letter, err := last[*schemas.DeadLetter](e, events.StreamDead, events.DeadSubject("hub-bridge", events.StreamDecisions, sequence))
	if err != nil || letter.Field != "clusters[0].group" {
		t.Errorf("dead letter is %+v (%v)", letter, err)
	}
	e.selects("train", "a")
}

// A name that no PlacementDecision can carry as its label is refused once,
// and the status alone says that nothing is selected.
func TestDecisionThatTheHubRefuses(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement(strings.Repeat("n", 64), true)
	observed[*schemas.Placement](e, events.KindPlacement, e.ns, p.Name, nil)
	sequence := e.decide(decision(p, "a"))
	r := e.receipt(events.KindPlacement, p.Name, sequence, schemas.OutcomeRefused)
	if r.Reason != bridge.ReasonRefusedByHub || !strings.Contains(r.Message, "metadata.labels") {
		t.Errorf("receipt is %+v", *r)
	}
	letter, err := last[*schemas.DeadLetter](e, events.StreamDead, events.DeadSubject("hub-bridge", events.StreamDecisions, sequence))
	if err != nil || letter.Field != "metadata.labels" || letter.Reason != bridge.ReasonRefusedByHub {
		t.Errorf("dead letter is %+v (%v)", letter, err)
	}
	empty := decision(p)
	empty.Conditions[0].Status, empty.Conditions[0].Reason = "False", "Misconfigured"
	e.applied(empty)
	now := e.get(p.Name)
	if c := meta.FindStatusCondition(now.Status.Conditions, empty.Conditions[0].Type); c == nil || c.Reason != "Misconfigured" {
		t.Errorf("status is %+v", now.Status)
	}
	list, err := e.hub.ClusterV1beta1().PlacementDecisions(e.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("pages are %+v (%v)", list.Items, err)
	}
	if n := e.retries("decisions"); n != 0 {
		t.Errorf("%v tries failed", n)
	}
}

// retries is how often what is in the queue was tried again.
func (e *env) retries(queue string) float64 {
	e.t.Helper()
	families, err := e.runtime.Metrics.Gather()
	if err != nil {
		e.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "spokewire_hub_bridge_retries_total" && m.GetLabel()[0].GetValue() == queue {
				return m.GetCounter().GetValue()
			}
		}
	}
	e.t.Fatalf("no such queue: %s", queue)
	return 0
}

func TestReleaseDeletesNothing(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	sequence := e.decide(decision(p, "a"))
	e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied)

	p = e.get("train")
	p.Annotations = nil
	if _, err := e.hub.ClusterV1beta1().Placements(e.ns).Update(t.Context(), p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	r := e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeRefused)
	if r.Reason != bridge.ReasonNotDirect {
		t.Errorf("reason is %s", r.Reason)
	}
	e.selects("train", "a")
	eventually(t, "our label is off", func() error {
		if page := e.pages("train")[0]; bridge.Ours(&page) {
			return fmt.Errorf("labels are %v", page.Labels)
		}
		return nil
	})

	// What another scheduler writes from now on stays.
	page := e.pages("train")[0]
	page.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "ocm"}}
	if _, err := e.hub.ClusterV1beta1().PlacementDecisions(e.ns).UpdateStatus(t.Context(), &page, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.nativeSelects("train", "ocm")
	e.selects("train", "ocm")

	// And back again: what it left behind is taken over.
	p = e.get("train")
	p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	if _, err := e.hub.ClusterV1beta1().Placements(e.ns).Update(t.Context(), p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the bridge knows that the Placement is direct", func() error {
		seen, err := last[*schemas.Placement](e, events.StreamHub, events.HubSubject(events.KindPlacement, e.ns, "train"))
		if err == nil && !seen.Direct {
			return fmt.Errorf("it does not")
		}
		return err
	})
	e.applied(decision(p, "z"))
	e.selects("train", "z")
	if pages := e.pages("train"); len(pages) != 1 || !bridge.Ours(&pages[0]) {
		t.Errorf("pages are %+v", pages)
	}
}

func (e *env) nativeSelects(placement string, clusters ...string) *schemas.PlacementDecision {
	e.t.Helper()
	var d *schemas.PlacementDecision
	eventually(e.t, "OCM's decision is on the bus", func() (err error) {
		d, err = last[*schemas.PlacementDecision](e, events.StreamDecisions, events.DecisionSubject(events.KindPlacement, e.ns, placement))
		if err != nil {
			return err
		}
		var names []string
		for _, c := range d.Clusters {
			names = append(names, c.Name)
		}
		if d.Mode != schemas.ModeNative || d.Scheduler != "ocm" || !slices.Equal(names, clusters) {
			return fmt.Errorf("it is %s by %s of %v", d.Mode, d.Scheduler, names)
		}
		return nil
	})
	return d
}

func TestTombstoneDeletesOnlyOurs(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	e.applied(decision(p, "a"))
	foreign := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Name: "by-hand", Namespace: e.ns, Labels: map[string]string{clusterv1beta1.PlacementLabel: "train"},
	}}
	if _, err := e.hub.ClusterV1beta1().PlacementDecisions(e.ns).Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.hub.ClusterV1beta1().Placements(e.ns).Delete(t.Context(), "train", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	sequence := e.publish(events.DecisionSubject(events.KindPlacement, e.ns, "train"), schemas.TypePlacementDecisionDeleted,
		&schemas.Deleted{Namespace: e.ns, Name: "train", UID: string(p.UID)}, events.Tombstone())
	e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied)
	if pages := e.pages("train"); len(pages) != 1 || pages[0].Name != "by-hand" {
		t.Errorf("left are %+v, want by-hand alone", pages)
	}
}

// A Placement that is created anew under its name gets a decision while the
// pages of the old one still lie there, for nothing collects garbage.
func TestRecreatedPlacement(t *testing.T) {
	t.Parallel()
	e := start(t)
	old := e.placement("train", true)
	e.applied(decision(old, "a"))
	if err := e.hub.ClusterV1beta1().Placements(e.ns).Delete(t.Context(), "train", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p := e.placement("train", true)
	eventually(t, "the bridge knows the new Placement", func() error {
		seen, err := last[*schemas.Placement](e, events.StreamHub, events.HubSubject(events.KindPlacement, e.ns, "train"))
		if err == nil && seen.UID != string(p.UID) {
			return fmt.Errorf("it knows %s", seen.UID)
		}
		return err
	})
	e.applied(decision(p, "b"))
	pages := e.pages("train")
	if len(pages) != 1 || !metav1.IsControlledBy(&pages[0], p) {
		t.Fatalf("pages are %+v", pages)
	}
	e.selects("train", "b")
}
