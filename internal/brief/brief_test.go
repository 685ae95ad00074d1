package brief_test

import (
	"slices"
	"testing"

	"github.com/spokewire/spokewire/internal/brief"
)

func TestList(t *testing.T) {
	t.Parallel()
	for want, items := range map[string][]string{
		"":           nil,
		"a":          {"a"},
		"a b c d":    {"a", "b", "c", "d"},
		"a b c d +2": {"a", "b", "c", "d", "e", "f"},
	} {
		if got := brief.List(items); got != want {
			t.Errorf("%q is listed as %q, want %q", items, got, want)
		}
	}
	if got := brief.Counts(map[string]int{"Taint": 2, "Predicate": 1}); !slices.Equal(got, []string{"Predicate 1", "Taint 2"}) {
		t.Errorf("the counts are %q", got)
	}
}
