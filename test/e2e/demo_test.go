package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/tour"
)

func TestTheTourShowsWhatItPromises(t *testing.T) {
	t.Parallel()
	s := startStack(t, func(o *stack.Options) { o.Spokes = 3 })
	var shown strings.Builder
	result, err := tour.Run(t.Context(), s, 2*time.Minute, &shown)
	t.Log(shown.String())
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(`^demo: placements=1 moved=2 first=[0-9]+ ok$`); !want.MatchString(result.String()) {
		t.Errorf("the last line is %q, want %s", result, want)
	}
	for _, want := range []string{"spoke-1", "spoke-2", "spoke-3", "demo-free-slots", "ScoreChanged"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("the tour does not show %q", want)
		}
	}
}
