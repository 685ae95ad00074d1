package flap

import (
	"io"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/internal/bench/rig"
)

func TestRun(t *testing.T) {
	t.Parallel()
	r, err := Run(t.Context(), rig.Env{Progress: io.Discard}, Options{Seed: 3, Traces: 2})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(r.Summary, "flap: traces=13 moves=") || len(r.Measures) != 5+6*6+2*3 {
		t.Errorf("%q with %d measures", r.Summary, len(r.Measures))
	}
	for _, m := range r.Measures {
		if len(m.Samples) == 0 {
			t.Errorf("%s has no samples", m.Name)
		}
	}
	if err := (Options{}).Validate(); err == nil || !strings.Contains(err.Error(), "--traces is 0") {
		t.Errorf("no traces: %v", err)
	}
}
