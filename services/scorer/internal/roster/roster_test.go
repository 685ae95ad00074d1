package roster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/services/scorer/internal/roster"
)

func TestTakeTellsWhatChangedOnce(t *testing.T) {
	t.Parallel()
	r := roster.New()
	r.Set("a", true)
	r.Set("b", true)
	r.Set("b", false)
	r.Set("c", false) // as it was
	<-r.Changed()
	if diff := cmp.Diff(map[string]bool{"a": true, "b": false}, r.Take()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	r.Set("a", true)
	select {
	case <-r.Changed():
		t.Error("nothing changed, but it says so")
	default:
	}
	if got := r.Take(); len(got) != 0 {
		t.Errorf("told again: %v", got)
	}
}
