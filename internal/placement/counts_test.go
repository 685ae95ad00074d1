package placement

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestBalanceCountsTheOthers compares with counting anew.
func TestBalanceCountsTheOthers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	f, selected := NewFleet(), map[Key][]string{}
	for step := range 3000 {
		k := Key{"default", fmt.Sprintf("p%d", rng.IntN(6))}
		names := make([]string, rng.IntN(5))
		for i := range names {
			names[i] = fmt.Sprintf("c%d", rng.IntN(8))
		}
		if rng.IntN(4) == 0 {
			f.DeleteDecision(k)
			delete(selected, k)
		} else {
			f.SetDecision(k, names)
			selected[k] = names
		}
		own := Key{"default", "p0"}
		var b balance
		b.refresh(&f.counts, own, nil)
		want, most := countAnew(selected, own)
		for name, id := range f.ids {
			if got := b.others(&f.counts, id); got != want[name] {
				t.Fatalf("step %d: %s is selected by %d others, want %d of %v", step, name, got, want[name], selected)
			}
		}
		if b.most != most {
			t.Fatalf("step %d: the most is %d, want %d of %v", step, b.most, most, selected)
		}
	}
}

func countAnew(selected map[Key][]string, own Key) (of map[string]int32, most int32) {
	of = map[string]int32{}
	for k, names := range selected {
		once := map[string]bool{}
		for _, name := range names {
			if k != own && !once[name] {
				once[name] = true
				of[name]++
				most = max(most, of[name])
			}
		}
	}
	return of, most
}
