package placement

import (
	"testing"
	"time"
)

func TestNothingIsKeptOfScoresThatAreGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.score("a", "gpu", 1, time.Minute)
	w.fleet.SetAddOnScore(addOnScoreObject("a", "gpu", 2), w.now)
	w.score("a", "gpu", 3, time.Minute)
	w.fleet.DeleteScore("a", "gpu", w.now)
	w.fleet.DeleteScore("a", "gpu", w.now)
	if len(w.fleet.scores) != 1 {
		t.Error("the others' score went with ours")
	}
	w.fleet.DeleteAddOnScore("a", "gpu", w.now)
	w.fleet.DeleteScore("unknown", "unknown", w.now)
	if len(w.fleet.scores) != 0 || len(w.fleet.names) != 1 {
		t.Errorf("it keeps tables %v and names %v", w.fleet.scores, w.fleet.names)
	}
}
