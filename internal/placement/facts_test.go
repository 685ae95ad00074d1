package placement_test

import (
	"testing"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestSentence(t *testing.T) {
	t.Parallel()
	moved := &schemas.PlacementDecision{
		Mode: schemas.ModeDirect, Cause: placement.CauseScoreChanged, Message: "b (90) overtook a (40)",
		Clusters: []schemas.SelectedCluster{{Name: "b", Score: 90}}, Added: []string{"b"}, Removed: []string{"a"},
		Considered: 5, Rejected: map[string]int{"Taint": 2, "Predicate": 1},
	}
	for want, d := range map[string]*schemas.PlacementDecision{
		"b (90) overtook a (40). Selected: b=90 (1 of 5 considered). Added: b. Removed: a. Not eligible: Predicate 1 Taint 2": moved,
		"Selected: none":          {Mode: schemas.ModeDirect, Cause: placement.CauseFirst},
		"Selected: a b. Added: b": {Mode: schemas.ModeNative, Clusters: []schemas.SelectedCluster{{Name: "a"}, {Name: "b"}}, Added: []string{"b"}},
	} {
		if got := placement.Sentence(d); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if cause := placement.Facts(moved)[0]; cause.Name != "Cause" || cause.Text != "ScoreChanged: b (90) overtook a (40)" {
		t.Errorf("the cause is %v", cause)
	}
}

func TestScoresAloneAreNoNews(t *testing.T) {
	t.Parallel()
	for cause, want := range map[string]bool{
		placement.CauseScoreChanged: false, placement.CauseClusterAdded: false, placement.CauseLabelChanged: false,
		placement.CauseFirst: true, placement.CauseMoveHeld: true, placement.CauseScoreHeld: true, placement.CauseTaintChanged: true,
		placement.CauseCordonChanged: true, placement.CauseRebalance: true, placement.CauseCondition: true,
	} {
		if got := placement.News(&schemas.PlacementDecision{Cause: cause}); got != want {
			t.Errorf("%s without a move is news: %t, want %t", cause, got, want)
		}
		if !placement.News(&schemas.PlacementDecision{Cause: cause, Removed: []string{"a"}}) {
			t.Errorf("%s with a move is no news", cause)
		}
	}
}
