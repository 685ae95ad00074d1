package desk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/inquiry/internal/archive"
	"github.com/spokewire/spokewire/services/inquiry/internal/desk"
	"github.com/spokewire/spokewire/services/inquiry/internal/logtest"
)

// counted counts the readings of the past.
type counted struct {
	*logtest.Log
	pasts atomic.Int32
}

func (c *counted) Past(ctx context.Context, p events.Past, fn func(events.Message) error) (events.Extent, error) {
	c.pasts.Add(1)
	return c.Log.Past(ctx, p, fn)
}

// sit returns a desk over three clusters, of which default/train has the best.
func sit(t *testing.T) (*desk.Desk, *counted) {
	t.Helper()
	bus := &counted{Log: logtest.New(t, "a", "b", "c")}
	bus.Place("train", logtest.OnGPU)
	d, err := desk.New(bus)
	if err != nil {
		t.Fatal(err)
	}
	return d, bus
}

// decide publishes what would be decided today, after a change, and returns
// where it stands.
func (c *counted) decide(t *testing.T, name string, change func(*schemas.PlacementDecision)) uint64 {
	t.Helper()
	found, err := (&archive.Archive{Bus: c}).Today(t.Context(), placement.Key{Namespace: "default", Name: name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := found.Decide()
	d.Basis = found.Basis
	if change != nil {
		change(&d)
	}
	return c.Decided(&d)
}

func replayed(t *testing.T, d *desk.Desk, sequence uint64, want string) *schemas.ReplayAnswer {
	t.Helper()
	a, err := d.Replay(t.Context(), &schemas.ReplayAsk{Namespace: "default", Name: "train", Sequence: sequence})
	if err != nil {
		t.Fatal(err)
	}
	if a.Verdict != want {
		t.Fatalf("%+v, want %s", a, want)
	}
	return a
}

// TestWhatADecisionDetailsIsNotRecomputed, and the rest is from its inputs.
func TestWhatADecisionDetailsIsNotRecomputed(t *testing.T) {
	t.Parallel()
	d, bus := sit(t)
	bus.decide(t, "train", func(d *schemas.PlacementDecision) {
		d.Explanations = slices.DeleteFunc(d.Explanations, func(e schemas.Explanation) bool { return e.Cluster == "c" })
	})
	explain := func(cluster string) *schemas.ExplainAnswer {
		t.Helper()
		a, err := d.Explain(t.Context(), &schemas.ExplainAsk{Namespace: "default", Name: "train", Cluster: cluster})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	bus.pasts.Store(0)
	if a := explain("a"); a.Recomputed || a.Explanation.Reason != placement.ExplainedSelected || bus.pasts.Load() != 0 {
		t.Errorf("of the selected one: %+v after %d readings", a, bus.pasts.Load())
	}
	a := explain("b")
	if a.Recomputed || a.Rank != 2 || a.Eligible != 3 || !a.Sufficient || len(a.Changes) != 1 || a.Changes[0].Want != "91" {
		t.Errorf("of a runner-up with details: %+v", a)
	}
	if a := explain("c"); !a.Recomputed || a.Rank != 3 || a.Explanation.Reason != "RunnerUp" {
		t.Errorf("of one without: %+v", a)
	}
	if a := explain("z"); !a.Recomputed || a.Explanation.Reason != "Absent" || a.Sufficient {
		t.Errorf("of one that is not there: %+v", a)
	}
}

func TestWhatOthersDecidedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	d, bus := sit(t)
	bus.decide(t, "train", func(d *schemas.PlacementDecision) { d.Scheduler, d.Mode = placement.SchedulerOCM, schemas.ModeNative })
	bus.pasts.Store(0)
	replayed(t, d, 0, schemas.ReplayNotOurs)
	a, err := d.Explain(t.Context(), &schemas.ExplainAsk{Namespace: "default", Name: "train", Cluster: "b"})
	if err != nil || a.Verdict != schemas.ReplayNotOurs || bus.pasts.Load() != 0 {
		t.Errorf("%+v (%v) after %d readings", a, err, bus.pasts.Load())
	}
}

// TestADecisionIsRightIfItFollowsFromEither: from what a score was before it
// was withdrawn, or without it.
func TestADecisionIsRightIfItFollowsFromEither(t *testing.T) {
	t.Parallel()
	d, bus := sit(t)
	first := bus.decide(t, "train", func(d *schemas.PlacementDecision) { d.Explanations = nil })
	bus.Withdraw("a")
	following := bus.decide(t, "train", func(d *schemas.PlacementDecision) { d.Previous = first })
	replayed(t, d, following, schemas.ReplayEqual)
	started := bus.decide(t, "train", func(d *schemas.PlacementDecision) {
		of := &archive.Decision{PlacementDecision: d}
		of.Previous = first
		found, err := (&archive.Archive{Bus: bus}).Then(t.Context(), of.PlacementDecision, true)
		if err != nil {
			t.Fatal(err)
		}
		again := found.Decide()
		again.Basis, again.Previous = d.Basis, first
		*d = again
	})
	m, err := bus.Last(t.Context(), events.StreamDecisions, events.DecisionSubject(events.KindPlacement, "default", "train"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := events.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := placement.SelectedNames(r.Payload.(*schemas.PlacementDecision)); !slices.Equal(got, []string{"b"}) {
		t.Fatalf("who has just started selects %v", got)
	}
	replayed(t, d, started, schemas.ReplayEqual)
}

// TestWhatCountedAndWasNeverStored: the decision follows from what took its
// place, or else nobody can say.
func TestWhatCountedAndWasNeverStored(t *testing.T) {
	t.Parallel()
	for cluster, want := range map[string]string{"a": schemas.ReplayEqual, "b": schemas.ReplayExpired} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			d, bus := sit(t)
			bus.Place("train", logtest.Balanced)
			bus.Place("other", logtest.OnGPU)
			theirs := logtest.Selecting("other", cluster) // who was faster than one that selected a
			at := bus.decide(t, "train", func(d *schemas.PlacementDecision) {
				bus.Decided(theirs)
				d.Basis[events.StreamDecisions] = 0
				d.Ahead = []schemas.Ahead{{Namespace: "default", Name: "other", Now: theirs.Now}}
				found, err := (&archive.Archive{Bus: bus}).Then(t.Context(), d, false)
				if err != nil {
					t.Fatal(err)
				}
				found.TakeDecision(logtest.Selecting("other", "a"), 1)
				again := found.Decide()
				again.Basis, again.Ahead = d.Basis, d.Ahead
				again.Ahead[0].Now = theirs.Now.Add(-time.Nanosecond)
				*d = again
			})
			a := replayed(t, d, at, want)
			if expired := []string{events.StreamDecisions + " sw.decision.placement.default.other behind #0"}; want == schemas.ReplayExpired && !slices.Equal(a.Expired, expired) {
				t.Errorf("expired is %q, want %q", a.Expired, expired)
			}
		})
	}
}

func TestWhatIfWritesNothingAndTellsTheDifference(t *testing.T) {
	t.Parallel()
	d, bus := sit(t)
	at := bus.decide(t, "train", nil)
	total := func() (n int) {
		for _, s := range events.Streams() {
			n += len(bus.Messages(s.Name))
		}
		return n
	}
	before := total()
	a, err := d.WhatIf(t.Context(), &schemas.WhatIfAsk{Namespace: "default", Name: "train", Remove: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	if a.Today.Sequence != at || !slices.Equal(a.Added, []string{"b"}) || !slices.Equal(a.Removed, []string{"a"}) || a.Decision.Cause != placement.CauseClusterRemoved {
		t.Errorf("%+v", a)
	}
	for _, difference := range a.Differences {
		if slices.Contains([]string{"cause", "message", "added", "removed"}, difference.Field) {
			t.Errorf("what a decision says of itself is a difference: %+v", difference)
		}
	}
	same, err := d.WhatIf(t.Context(), &schemas.WhatIfAsk{Namespace: "default", Name: "train"})
	if err != nil || len(same.Added)+len(same.Removed)+len(same.Differences) > 0 {
		t.Errorf("without a hypothesis: %+v (%v)", same, err)
	}
	if after := total(); after != before {
		t.Errorf("%d events were written", after-before)
	}
}

// TestWhatIfReadsTheLastSnapshotThatCanBeRead, as the scorer does.
func TestWhatIfReadsTheLastSnapshotThatCanBeRead(t *testing.T) {
	t.Parallel()
	d, bus := sit(t)
	hour := schemas.Duration(time.Hour)
	bus.Put(events.ConfigSubject(events.KindScorer, "", "gpu"), schemas.TypeConfigScorer, &schemas.Scorer{
		APIVersion: schemas.ScorerAPIVersion, Kind: schemas.ScorerKind, Metadata: schemas.Metadata{Name: "gpu"},
		Spec: schemas.ScorerSpec{CEL: `metric("free") + metric("spare")`, ValidFor: &hour},
	})
	subject := events.MetricSubject("b", "node")
	for _, spare := range []float64{1, 2} {
		e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource("b", "node"), &schemas.Metrics{Samples: []schemas.Sample{{Name: "free", Value: 5}, {Name: "spare", Value: spare}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bus.Publish(t.Context(), subject, e); err != nil {
			t.Fatal(err)
		}
	}
	bus.Garbage(subject, 2)
	a, err := d.WhatIf(t.Context(), &schemas.WhatIfAsk{Namespace: "default", Name: "train", Metrics: []schemas.WhatIfMetric{{Cluster: "b", Name: "free", Value: 95}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Scores) != 1 || a.Scores[0].Value == nil || *a.Scores[0].Value != 97 || !slices.Equal(placement.SelectedNames(&a.Decision), []string{"b"}) {
		t.Errorf("%+v", a)
	}
}

// TestWhatIfRefusesMetricsOfScorersThatLookBack: what is supposed has no past.
func TestWhatIfRefusesMetricsOfScorersThatLookBack(t *testing.T) {
	t.Parallel()
	d, bus := sit(t)
	ask := func() (*schemas.WhatIfAnswer, error) {
		return d.WhatIf(t.Context(), &schemas.WhatIfAsk{Namespace: "default", Name: "train", Metrics: []schemas.WhatIfMetric{{Cluster: "b", Name: "free", Value: 95}}})
	}
	scorer := func(name, cel string) {
		bus.Put(events.ConfigSubject(events.KindScorer, "", name), schemas.TypeConfigScorer, &schemas.Scorer{
			APIVersion: schemas.ScorerAPIVersion, Kind: schemas.ScorerKind, Metadata: schemas.Metadata{Name: name}, Spec: schemas.ScorerSpec{CEL: cel},
		})
	}
	scorer("gpu", `metric("free") - rate("used_total", duration("5m"))`)
	var field *schemas.FieldError
	if _, err := ask(); !errors.As(err, &field) || field.Field != "metrics[0].name" || !strings.Contains(field.Reason, "Scorer gpu reads, and that looks back in time") {
		t.Errorf("got %v, want a refusal", err)
	}
	scorer("gpu", `rate("used_total", duration("5m"))`)
	if _, err := ask(); !errors.As(err, &field) || !strings.Contains(field.Reason, "no Scorer of the Placement reads") {
		t.Errorf("got %v, want that nobody reads it", err)
	}
}

// TestAuditsGoOn where the one before ended, and count each decision once.
func TestAuditsGoOn(t *testing.T) {
	t.Parallel()
	d, bus := sit(t)
	const each, placements = 30, 7
	for range each {
		for i := range placements {
			theirs := logtest.Selecting(fmt.Sprintf("p%d", i), "a")
			theirs.Scheduler, theirs.Mode = placement.SchedulerOCM, schemas.ModeNative
			bus.Decided(theirs)
		}
	}
	forged := bus.decide(t, "train", func(d *schemas.PlacementDecision) {
		d.Clusters, d.Added = []schemas.SelectedCluster{{Name: "b", Score: 80}}, []string{"b"}
		d.Cause, d.Message, d.Considered = placement.CauseTaintChanged, "", 9
	})
	counts := map[string]int{}
	var results []schemas.ReplayAnswer
	asks := 0
	for q := (&schemas.AuditAsk{From: time.Now().Add(-time.Hour)}); q != nil; asks++ {
		a, err := d.Audit(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for verdict, n := range a.Counts {
			counts[verdict] += n
		}
		results, q = append(results, a.Results...), a.Next
	}
	if asks != 2 || counts[schemas.ReplayNotOurs] != each*placements || counts[schemas.ReplayDifferent] != 1 {
		t.Errorf("after %d: %v", asks, counts)
	}
	if len(results) != 1 || results[0].Decision.Sequence != forged || len(results[0].Differences) != 4 {
		t.Errorf("results are %+v, want one with its first differences", results)
	}
}

// TestQuestionsAreReadStrictly, and answered by what their schema says.
func TestQuestionsAreReadStrictly(t *testing.T) {
	t.Parallel()
	d, bus := sit(t)
	bus.decide(t, "train", nil)
	ask := func(subject, body string) ([]byte, error) {
		for _, e := range d.Endpoints() {
			if e.Subject == subject {
				return e.Answer(t.Context(), []byte(body))
			}
		}
		t.Fatalf("nobody answers on %s", subject)
		return nil, nil
	}
	for subject, answer := range map[string]schemas.Payload{
		events.AskExplain: new(schemas.ExplainAnswer), events.AskWhatIf: new(schemas.WhatIfAnswer), events.AskReplay: new(schemas.ReplayAnswer), events.AskAudit: new(schemas.AuditAnswer),
	} {
		body := map[string]any{"namespace": "default", "name": "train"}
		switch subject {
		case events.AskExplain:
			body["cluster"] = "b"
		case events.AskAudit:
			body["from"] = time.Now().Add(-time.Hour).UTC()
		}
		question, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text, err := ask(subject, string(question))
		if err != nil {
			t.Errorf("%s: %v", subject, err)
			continue
		}
		if err := schemas.Unmarshal(text, answer); err != nil {
			t.Errorf("%s answers %s: %v", subject, text, err)
		}
		_, err = ask(subject, `{"namespace":"default","nome":"train"}`)
		var refusal *events.Refusal
		if !errors.As(err, &refusal) || refusal.Code != events.RefusedBad || refusal.Field != "nome" {
			t.Errorf("%s: a slip is answered by %v, want a refusal of the field", subject, err)
		}
	}
}
