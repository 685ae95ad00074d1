package archive_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/internal/inquiry"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/inquiry/internal/archive"
	"github.com/spokewire/spokewire/services/inquiry/internal/logtest"
)

var train = placement.Key{Namespace: "default", Name: "train"}

// decide is what would be decided today.
func decide(t *testing.T, l *logtest.Log, key placement.Key) *schemas.PlacementDecision {
	t.Helper()
	found, err := (&archive.Archive{Bus: l}).Today(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found.Placement() == nil {
		t.Fatalf("there is no Placement %s", key)
	}
	d := found.Decide()
	d.Basis = found.Basis
	return &d
}

// then makes d again, and returns how it differs and what is lost.
func then(t *testing.T, l *logtest.Log, d *schemas.PlacementDecision) ([]schemas.Difference, []string) {
	t.Helper()
	found, err := (&archive.Archive{Bus: l}).Then(t.Context(), d, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Lost) > 0 {
		return nil, found.Lost
	}
	again := found.Decide()
	return inquiry.Compare(d, &again), nil
}

// inputs are subjects of what default/train rests on.
var inputs = map[string]string{
	"cluster":   events.HubSubject(events.KindCluster, "", "a"),
	"set":       events.HubSubject(events.KindClusterSet, "", "default"),
	"binding":   events.HubSubject(events.KindBinding, "default", "default"),
	"placement": events.HubSubject(events.KindPlacement, "default", "train"),
	"score":     events.ScoreSubject("a", "gpu"),
	"cordon":    events.ConfigSubject(events.KindCordon, "", "b"),
	"policy":    events.ConfigSubject(events.KindPolicy, "", schemas.DefaultPolicyName),
	"decision":  events.DecisionSubject(events.KindPlacement, "default", "other"),
}

// fleet is a log on which a is best for default/train, though b is cordoned
// and others balance against it.
func fleet(t *testing.T) *logtest.Log {
	l := logtest.New(t, "a", "b", "c")
	l.Put(inputs["cordon"], schemas.TypeConfigCordon, &schemas.Cordon{
		APIVersion: schemas.CordonAPIVersion, Kind: schemas.CordonKind, Metadata: schemas.Metadata{Name: "b"}, Spec: schemas.CordonSpec{State: schemas.CordonCordoned},
	})
	lead := int64(3)
	l.Put(inputs["policy"], schemas.TypeConfigPolicy, &schemas.PlacementPolicy{
		APIVersion: schemas.PlacementPolicyAPIVersion, Kind: schemas.PlacementPolicyKind, Metadata: schemas.Metadata{Name: schemas.DefaultPolicyName}, Spec: schemas.PlacementPolicySpec{DeadBand: &lead},
	})
	l.Place("other", logtest.Balanced)
	l.Decided(logtest.Selecting("other", "c"))
	l.Place("train", strings.Replace(logtest.OnGPU, "Exact", "Additive", 1))
	return l
}

// TestWhatCannotBeReadLeavesWhatWasSaidBefore, today and at every position of
// the past.
func TestWhatCannotBeReadLeavesWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	for name, subject := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := fleet(t)
			sound := decide(t, l, train)
			if got := placement.SelectedNames(sound); !slices.Equal(got, []string{"a"}) || sound.Rejected["Cordoned"] != 1 {
				t.Fatalf("it selects %v", got)
			}
			for _, n := range []int{1, 2, 1} {
				l.Garbage(subject, n)
				d := decide(t, l, train)
				d.Now = sound.Now
				if differs := inquiry.Compare(sound, d); len(differs) > 0 {
					t.Errorf("today is another by garbage: %+v", differs)
				}
				if differs, lost := then(t, l, d); len(differs)+len(lost) > 0 {
					t.Errorf("made again it differs by %+v, and %v is lost", differs, lost)
				}
			}
		})
	}
}

// TestWhatNoDecisionCanRestOnIsRefused like what cannot be read, by the rules
// of who decides.
func TestWhatNoDecisionCanRestOnIsRefused(t *testing.T) {
	t.Parallel()
	l := fleet(t)
	sound := decide(t, l, train)
	l.Set("Maybe")
	l.Place("train", `{"numberOfClusters":"all of them"}`)
	l.Put(inputs["binding"], schemas.TypeHubBindingDeleted, &schemas.Deleted{Namespace: "default", Name: "default"}) // no rollup
	l.Put(inputs["binding"], schemas.TypeHubBinding, &schemas.Binding{Namespace: "default", Name: "default", UID: "binding", ClusterSet: "default"})
	d := decide(t, l, train)
	d.Now = sound.Now
	if differs := inquiry.Compare(sound, d); len(differs) > 0 {
		t.Errorf("today is another: %+v", differs)
	}
	if differs, lost := then(t, l, d); len(differs)+len(lost) > 0 {
		t.Errorf("made again it differs by %+v, and %v is lost", differs, lost)
	}
}

// TestASetThatNeverMadeSenseIsNamed, with the words of who decides.
func TestASetThatNeverMadeSenseIsNamed(t *testing.T) {
	t.Parallel()
	l := fleet(t)
	for range events.PerSubject(events.StreamHub) {
		l.Set("Maybe")
	}
	d := decide(t, l, train)
	if len(d.Clusters) > 0 || !strings.Contains(d.Conditions[0].Message, "labelSelector of ManagedClusterSet default is not a label selector") {
		t.Errorf("%v because %s", d.Clusters, d.Conditions[0].Message)
	}
	if differs, lost := then(t, l, d); len(differs)+len(lost) > 0 {
		t.Errorf("made again it differs by %+v, and %v is lost", differs, lost)
	}
}

// TestASubjectOfGarbageAloneSaysNothing, and one that may have said something
// before its oldest event is lost.
func TestASubjectOfGarbageAloneSaysNothing(t *testing.T) {
	t.Parallel()
	l := fleet(t)
	keep := int(events.PerSubject(events.StreamScores))
	l.Garbage(inputs["score"], 1)
	early := decide(t, l, train)
	l.Garbage(inputs["score"], keep-2)
	if got := placement.SelectedNames(decide(t, l, train)); !slices.Equal(got, []string{"a"}) {
		t.Errorf("while the score of a is the oldest event it selects %v", got)
	}
	l.Garbage(inputs["score"], 1)
	late := decide(t, l, train)
	if got := placement.SelectedNames(late); !slices.Equal(got, []string{"c"}) || late.Rejected["NoScore"] != 1 {
		t.Errorf("without a score of a it selects %v: %v", got, late.Rejected)
	}
	if differs, lost := then(t, l, late); len(differs)+len(lost) > 0 {
		t.Errorf("made again it differs by %+v, and %v is lost", differs, lost)
	}
	if _, lost := then(t, l, early); !slices.Equal(lost, []string{events.StreamScores + " " + inputs["score"]}) {
		t.Errorf("of what stood before the oldest event %v is lost", lost)
	}
}

// TestAWithdrawnScoreBehindGarbage is known as before.
func TestAWithdrawnScoreBehindGarbage(t *testing.T) {
	t.Parallel()
	l := fleet(t)
	l.Decided(decide(t, l, train))
	l.Garbage(inputs["score"], 1)
	l.Withdraw("a")
	l.Garbage(inputs["score"], 1)
	found, err := (&archive.Archive{Bus: l}).Today(t.Context(), train, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, _, _ := found.Explain("a")
	if !found.Withdrawn || e.Reason != placement.ExplainedHeld || e.Score == nil {
		t.Errorf("a is %+v, want it held with the score of before", e)
	}
}

// TestWhatCountedAhead: of several decisions behind the basis it is the one
// that is named; another in its place is told apart; none is lost.
func TestWhatCountedAhead(t *testing.T) {
	t.Parallel()
	l := logtest.New(t, "a", "b")
	l.Place("other", logtest.OnGPU)
	l.Place("train", logtest.Balanced)
	before := l.Decided(logtest.Selecting("other", "a"))
	d := decide(t, l, train)
	first := logtest.Selecting("other", "b")
	first.Previous = before
	stored := l.Decided(first)
	second := logtest.Selecting("other", "a")
	second.Previous = stored
	l.Decided(second)

	tests := map[string]struct {
		after  uint64
		of     *schemas.PlacementDecision
		want   string
		outrun bool
		lost   bool
	}{
		"the first":                {after: before, of: first, want: "a"},
		"the second":               {after: stored, of: second, want: "b"},
		"in the place of another":  {after: stored, of: first, want: "b", outrun: true},
		"behind all that there is": {after: stored + 1, of: second, lost: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := *d
			d.Ahead = []schemas.Ahead{{Namespace: "default", Name: "other", After: tt.after, Now: tt.of.Now}}
			found, err := (&archive.Archive{Bus: l}).Then(t.Context(), &d, false)
			if err != nil {
				t.Fatal(err)
			}
			if len(found.Lost) > 0 != tt.lost || len(found.Outrun) > 0 != tt.outrun {
				t.Errorf("lost are %v, outrun %v", found.Lost, found.Outrun)
			}
			again := found.Decide()
			if got := placement.SelectedNames(&again); !tt.lost && !slices.Equal(got, []string{tt.want}) {
				t.Errorf("it selects %v, want %s", got, tt.want)
			}
		})
	}
}

// TestDecisionsOfAPeriod come in their order, from any moment on, each once.
func TestDecisionsOfAPeriod(t *testing.T) {
	t.Parallel()
	l := logtest.New(t)
	var all []uint64
	var received []events.Message
	for i := range 40 {
		l.Decided(logtest.Selecting(fmt.Sprintf("other%d", i), "a"))
		all = append(all, l.Decided(logtest.Selecting("train", "a")))
	}
	l.Garbage(events.DecisionSubject(events.KindPlacement, "default", "train"), 1)
	all = all[9:] // 32 are kept, of which one is garbage
	for _, m := range l.Messages(events.StreamDecisions) {
		if slices.Contains(all, m.Sequence) {
			received = append(received, m)
		}
	}
	for i, m := range received {
		for name, q := range map[string]schemas.AuditAsk{
			"from":  {From: m.ReceivedAt},
			"to":    {From: received[0].ReceivedAt, To: m.ReceivedAt},
			"after": {From: received[0].ReceivedAt, After: m.Sequence},
		} {
			q.Namespace, q.Name = "default", "train"
			want := map[string][]uint64{"from": all[i:], "to": all[:i+1], "after": all[i+1:]}[name]
			var got []uint64
			err := (&archive.Archive{Bus: l}).Decisions(t.Context(), &q, func(d *archive.Decision) (bool, error) {
				got = append(got, d.Sequence)
				return true, nil
			})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s %d: %v (%v), want %v", name, m.Sequence, got, err, want)
			}
		}
	}
}

func TestADecisionThatIsAskedFor(t *testing.T) {
	t.Parallel()
	l := logtest.New(t)
	first := l.Decided(logtest.Selecting("train", "a"))
	last := l.Decided(logtest.Selecting("train", "b"))
	a := &archive.Archive{Bus: l}
	want := func(sequence, want uint64) {
		t.Helper()
		if d, err := a.Decision(t.Context(), train, sequence); err != nil || d.Sequence != want {
			t.Errorf("asked for %d: %+v (%v), want %d", sequence, d, err, want)
		}
	}
	refused := func(sequence uint64, field string) {
		t.Helper()
		_, err := a.Decision(t.Context(), train, sequence)
		var refusal *events.Refusal
		if !errors.As(err, &refusal) || refusal.Code != events.RefusedUnknown || refusal.Field != field {
			t.Errorf("asked for %d: %v, want a refusal of field %s", sequence, err, field)
		}
	}
	want(0, last)
	want(first, first)
	refused(last+1, "sequence")
	shadow := logtest.Selecting("train", "c")
	shadow.Mode = schemas.ModeShadow
	at := l.Put(events.DecisionSubject(events.KindShadow, "default", "train"), schemas.TypePlacementDecided, shadow)
	want(0, at)
	want(last, last)
	l.Put(events.DecisionSubject(events.KindShadow, "default", "train"), schemas.TypePlacementDecisionDeleted, &schemas.Deleted{Namespace: "default", Name: "train"}, events.Tombstone())
	want(0, last)
	l.Garbage(events.DecisionSubject(events.KindPlacement, "default", "train"), 1)
	want(0, last)
	refused(at+2, "sequence")
	if _, err := a.Decision(t.Context(), placement.Key{Namespace: "default", Name: "none"}, 0); err == nil || !strings.Contains(err.Error(), "default/none") {
		t.Errorf("of a Placement without decisions: %v", err)
	}
}
