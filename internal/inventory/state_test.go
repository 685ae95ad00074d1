package inventory

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// fixture is a state under construction, one event a second from start on.
type fixture struct {
	t     *testing.T
	bus   *eventstest.Bus
	state *State
	at    time.Time
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, bus: eventstest.NewBus(), state: New(), at: start}
	f.bus.SetNow(func() time.Time { return f.at })
	return f
}

func (f *fixture) put(subject, eventType, source string, payload schemas.Payload) *fixture {
	f.t.Helper()
	e, err := events.New(eventType, source, payload)
	if err != nil {
		f.t.Fatal(err)
	}
	ack, err := f.bus.Publish(f.t.Context(), subject, e)
	if err != nil {
		f.t.Fatal(err)
	}
	m, err := f.bus.Last(f.t.Context(), ack.Stream, subject)
	if err != nil {
		f.t.Fatal(err)
	}
	f.state.Take(events.Update{Kind: events.Stored, Message: m})
	f.at = f.at.Add(time.Second)
	return f
}

func (f *fixture) metrics(cluster, source string, samples ...schemas.Sample) *fixture {
	f.t.Helper()
	if samples == nil {
		samples = []schemas.Sample{}
	}
	return f.put(events.MetricSubject(cluster, source), schemas.TypeMetricsObserved, events.ClusterSource(cluster, source), &schemas.Metrics{Samples: samples})
}

func (f *fixture) score(cluster, scorer string, items ...schemas.ScoreItem) *fixture {
	f.t.Helper()
	s := schemas.Score{Cluster: cluster, Scorer: scorer, ValidFor: schemas.Duration(time.Minute), Items: items}
	return f.put(events.ScoreSubject(cluster, scorer), schemas.TypeScoreComputed, "/test", &s)
}

func value(name string, v int32) schemas.ScoreItem {
	return schemas.ScoreItem{Name: name, Value: &v, Reason: schemas.ScoreComputedReason}
}

func TestStateKeepsTheLastReadableEvent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.metrics("a", "x").metrics("a", "x", schemas.Sample{Name: "one", Value: 1}).metrics("b", "x").metrics("c", "x")
	f.state.Take(events.Update{Kind: events.Gone, Message: events.Message{Subject: events.MetricSubject("b", "x")}})
	bad := events.Message{Stream: events.StreamMetrics, Subject: events.MetricSubject("c", "x"), Sequence: 9, ReceivedAt: f.at}
	f.state.Take(events.Update{Kind: events.Stored, Message: bad})

	entries := Entries[*schemas.Metrics](f.state, events.FamilyMetric)
	if len(entries) != 1 || entries[0].Subject.Cluster != "a" || len(entries[0].Value.Samples) != 1 {
		t.Errorf("got %v, want only the second event of a", entries)
	}
	if errs := f.state.Unreadable(); len(errs) != 1 {
		t.Errorf("got %v unreadable, want that of c", errs)
	}
	f.metrics("c", "x")
	if errs := f.state.Unreadable(); len(errs) != 0 {
		t.Errorf("got %v, but c can be read again", errs)
	}
}

func TestClusters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	cluster := &schemas.Cluster{Name: "a", UID: "1", Labels: map[string]string{"region": "eu"}, Deleting: true}
	f.put(events.HubSubject(events.KindCluster, "", "a"), schemas.TypeHubCluster, "/test", cluster)
	f.put(events.HubSubject(events.KindCluster, "", "gone"), schemas.TypeHubCluster, "/test", &schemas.Cluster{Name: "gone", UID: "2"})
	f.put(events.HubSubject(events.KindCluster, "", "gone"), schemas.TypeHubClusterDeleted, "/test", &schemas.Deleted{Name: "gone"})
	f.metrics("a", "x", schemas.Sample{Name: "one"}).metrics("lab", "y")
	want := []Cluster{
		{Name: "a", OnHub: true, Deleting: true, Labels: map[string]string{"region": "eu"}, Sources: []Source{{"x", 1, start.Add(3 * time.Second), start.Add(3 * time.Second)}}},
		{Name: "lab", Sources: []Source{{"y", 0, start.Add(4 * time.Second), start.Add(4 * time.Second)}}},
	}
	if diff := cmp.Diff(want, Clusters(f.state)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestScorersCountClusters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	spec := schemas.ScorerSpec{CEL: "1.0"}
	f.put(events.ConfigSubject(events.KindScorer, "", "gpu"), schemas.TypeConfigScorer, "/test", &schemas.Scorer{
		APIVersion: schemas.ScorerAPIVersion, Kind: schemas.ScorerKind, Metadata: schemas.Metadata{Name: "gpu"}, Spec: spec,
	})
	f.score("a", "gpu", value("x", 1), value("y", 2))
	f.score("b", "gpu", value("x", 1), schemas.ScoreItem{Name: "y", Reason: schemas.ScoreNoSample})
	f.score("a", "own", value("own", 5))
	tests := map[string]struct {
		now  time.Time
		want []Scorer
	}{
		"fresh": {start.Add(10 * time.Second), []Scorer{
			{Name: "gpu", Spec: &spec, Scored: 1, Failing: 1, Reasons: map[string]int{"NoSample": 1}},
			{Name: "own", External: true, Scored: 1},
		}},
		"a's score of gpu has just expired": {start.Add(61 * time.Second), []Scorer{
			{Name: "gpu", Spec: &spec, Failing: 2, Reasons: map[string]int{"NoSample": 1, "Expired": 2}},
			{Name: "own", External: true, Scored: 1},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Scorers(f.state, tt.now)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestScorerThatCannotBeRead: it was applied, and is no program of its own.
func TestScorerThatCannotBeRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t).score("a", "gpu", value("gpu", 1))
	for i, name := range []string{"gpu", "unscored"} {
		f.state.Take(events.Update{Kind: events.Stored, Message: events.Message{
			Stream: events.StreamConfig, Subject: events.ConfigSubject(events.KindScorer, "", name), Sequence: uint64(i + 1), ReceivedAt: f.at,
		}})
	}
	scorers := Scorers(f.state, start)
	if len(scorers) != 2 {
		t.Fatalf("got %+v, want both", scorers)
	}
	for i, scored := range []int{1, 0} {
		if s := scorers[i]; s.External || s.Spec != nil || s.SpecError == "" || s.Scored != scored {
			t.Errorf("got %+v, want %d scored and an error in place of the spec", s, scored)
		}
	}
}

func (f *fixture) placement(direct bool) *fixture {
	f.t.Helper()
	p := &schemas.Placement{Namespace: "default", Name: "p", UID: "1", Direct: direct, Spec: json.RawMessage("{}")}
	return f.put(events.HubSubject(events.KindPlacement, "default", "p"), schemas.TypeHubPlacement, "/test", p)
}

// shadowed has the Placement in shadow.
func (f *fixture) shadowed() *fixture {
	f.t.Helper()
	p := &schemas.Placement{
		Namespace: "default", Name: "p", UID: "1", Spec: json.RawMessage("{}"), Annotations: map[string]string{schemas.AnnotationMode: schemas.ModeShadow},
	}
	return f.put(events.HubSubject(events.KindPlacement, "default", "p"), schemas.TypeHubPlacement, "/test", p)
}

func (f *fixture) decide(mode string) *fixture {
	f.t.Helper()
	d := &schemas.PlacementDecision{
		Placement: schemas.PlacementRef{Namespace: "default", Name: "p", UID: "1"}, Mode: mode, Scheduler: "spokewire",
		Clusters: []schemas.SelectedCluster{{Name: "a", Score: 7}}, Cause: "New", Now: start,
		Explanations: []schemas.Explanation{
			{Cluster: "a", Reason: "Selected", Prioritizers: []schemas.PrioritizerScore{{Name: "Steady"}, {Name: "AddOn/gpu/x", Score: 7, Weight: 1}}},
			{Cluster: "b", Reason: "RunnerUp", Prioritizers: []schemas.PrioritizerScore{{Name: "AddOn/gpu/x"}}},
		},
	}
	kind := events.KindPlacement
	if mode == schemas.ModeShadow {
		kind = events.KindShadow
	}
	return f.put(events.DecisionSubject(kind, "default", "p"), schemas.TypePlacementDecided, "/test", d)
}

func (f *fixture) receipt(subject string, sequence uint64) *fixture {
	f.t.Helper()
	return f.answer(schemas.Receipt{Subject: subject, Sequence: sequence, ID: "x", Outcome: schemas.OutcomeApplied})
}

func (f *fixture) answer(r schemas.Receipt) *fixture {
	f.t.Helper()
	return f.put(events.ReceiptSubject(events.KindPlacement, "default", "p"), schemas.TypeReceiptRecorded, "/test", &r)
}

func TestPlacementMode(t *testing.T) {
	t.Parallel()
	request := &schemas.PlacementRequest{
		APIVersion: schemas.PlacementAPIVersion, Kind: schemas.PlacementKind,
		Metadata: schemas.Metadata{Namespace: "default", Name: "p"}, Spec: json.RawMessage("{}"),
	}
	requested := func(f *fixture) {
		f.put(events.ConfigSubject(events.KindPlacement, "default", "p"), schemas.TypeConfigPlacement, "/test", request)
	}
	tests := map[string]struct {
		put  func(*fixture)
		want string
	}{
		"requested only":               {requested, ModeRequested},
		"on the hub":                   {func(f *fixture) { requested(f); f.placement(true) }, schemas.ModeDirect},
		"native":                       {func(f *fixture) { f.placement(false) }, schemas.ModeNative},
		"decided, hub not seen":        {func(f *fixture) { f.decide(schemas.ModeDirect) }, schemas.ModeDirect},
		"native again after decisions": {func(f *fixture) { f.decide(schemas.ModeDirect).placement(false) }, schemas.ModeNative},
		"shadow":                       {func(f *fixture) { f.decide(schemas.ModeNative).shadowed() }, schemas.ModeShadow},
		"shadow, hub not seen":         {func(f *fixture) { f.decide(schemas.ModeShadow).decide(schemas.ModeNative) }, schemas.ModeShadow},
		"shadow no more":               {func(f *fixture) { f.decide(schemas.ModeShadow).placement(true) }, schemas.ModeDirect},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			tt.put(f)
			placements := Placements(f.state)
			if len(placements) != 1 || placements[0].Mode != tt.want {
				t.Errorf("got %+v, want one in mode %s", placements, tt.want)
			}
		})
	}
}

// TestPlacementReceipt: an answer to another decision is none to this one.
func TestPlacementReceipt(t *testing.T) {
	t.Parallel()
	decision := events.DecisionSubject(events.KindPlacement, "default", "p")
	request := events.ConfigSubject(events.KindPlacement, "default", "p")
	tests := map[string]struct {
		put         func(*fixture)
		wantReceipt bool
		wantWaiting bool
	}{
		"nothing decided": {func(f *fixture) { f.placement(true) }, false, false},
		"only requested":  {func(f *fixture) { f.placement(true).receipt(request, 1) }, true, false},
		"not answered":    {func(f *fixture) { f.placement(true).decide(schemas.ModeDirect) }, false, true},
		"hub not seen":    {func(f *fixture) { f.decide(schemas.ModeDirect) }, false, true},
		"answered":        {func(f *fixture) { f.placement(true).decide(schemas.ModeDirect).receipt(decision, 1) }, true, false},
		"decided anew since": {func(f *fixture) {
			f.placement(true).decide(schemas.ModeDirect).receipt(decision, 1).decide(schemas.ModeDirect)
		}, false, true},
		"late answer to the last one": {func(f *fixture) { f.decide(schemas.ModeDirect).decide(schemas.ModeDirect).receipt(decision, 1) }, false, true},
		"answer to the next one":      {func(f *fixture) { f.decide(schemas.ModeDirect).receipt(decision, 2) }, true, false},
		"a request answered before":   {func(f *fixture) { f.placement(true).receipt(request, 1).decide(schemas.ModeDirect) }, false, true},
		"a request answered after":    {func(f *fixture) { f.decide(schemas.ModeDirect).receipt(decision, 1).receipt(request, 1) }, true, false},
		"shadow":                      {func(f *fixture) { f.shadowed().decide(schemas.ModeNative).decide(schemas.ModeShadow) }, false, false},
		"native":                      {func(f *fixture) { f.placement(false).decide(schemas.ModeNative) }, false, false},
		"native since the decision":   {func(f *fixture) { f.placement(false).decide(schemas.ModeDirect) }, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			tt.put(f)
			p := Placements(f.state)[0]
			if (p.Receipt != nil) != tt.wantReceipt || p.Waiting != tt.wantWaiting {
				t.Errorf("got receipt %v, waiting %v, want %v and %v", p.Receipt, p.Waiting, tt.wantReceipt, tt.wantWaiting)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	subject := events.DecisionSubject(events.KindPlacement, "default", "p")
	f := newFixture(t).placement(true)
	if _, err := Explain(f.state, "default", "q", ""); !errors.Is(err, ErrNoPlacement) {
		t.Errorf("got %v, want ErrNoPlacement", err)
	}
	if _, err := Explain(f.state, "default", "p", ""); !errors.Is(err, ErrNoDecision) {
		t.Errorf("got %v, want ErrNoDecision", err)
	}
	f.decide(schemas.ModeDirect).receipt(subject, 99).score("a", "gpu", value("x", 7)).score("a", "other", value("o", 1))
	x, err := Explain(f.state, "default", "p", "a")
	if err != nil {
		t.Fatal(err)
	}
	if x.Receipt != nil {
		t.Error("the receipt of another decision is taken for this one's")
	}
	if len(x.Scores) != 1 || x.Scores[0].Scorer != "gpu" {
		t.Errorf("got scores %+v, want those that the prioritizers name", x.Scores)
	}
	if x.Selected("a") != 1 || x.Selected("b") != 0 {
		t.Errorf("got ranks %d and %d, want 1 and 0", x.Selected("a"), x.Selected("b"))
	}
	if diff := cmp.Diff([]string{"Steady", "AddOn/gpu/x"}, x.Prioritizers()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	f.receipt(subject, 1).metrics("idle", "node")
	if x, err = Explain(f.state, "default", "p", "idle"); err != nil || x.Receipt == nil || x.Explanation("idle") != nil {
		t.Errorf("got %+v, %v, want this decision's receipt, and nothing of a cluster that it does not name", x, err)
	}
	if _, err := Explain(f.state, "default", "p", "nowhere"); !errors.Is(err, ErrNoCluster) {
		t.Errorf("got %v, want ErrNoCluster", err)
	}
}
