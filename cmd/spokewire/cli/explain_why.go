package cli

import (
	"fmt"
	"io"

	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// writeWhy writes where an explanation comes from, and what would have to
// change.
func writeWhy(w io.Writer, a *schemas.ExplainAnswer) error {
	lines := []string{}
	if a.Recomputed {
		text := "Recomputed from the inputs that the decision recorded"
		if a.Verdict == schemas.ReplayDifferent {
			text += ", from which another decision follows (spokewire replay placement shows how)"
		}
		lines = append(lines, text+".")
	}
	if a.Rank > 0 {
		lines = append(lines, fmt.Sprintf("%d. of %d eligible clusters.", a.Rank, a.Eligible))
	}
	if len(a.Expired) > 0 {
		lines = append(lines, "It cannot be said what would have to change: inputs expired, "+list(a.Expired)+".")
	}
	if len(a.Changes) > 0 {
		lines = append(lines, "To be selected:")
		for _, c := range a.Changes {
			lines = append(lines, "  - "+c.Message)
		}
		if !a.Sufficient {
			lines = append(lines, "  That alone was not enough when it was tried.")
		}
	}
	if len(lines) == 0 {
		return nil
	}
	for _, line := range append([]string{""}, lines...) {
		if _, err := fmt.Fprintln(w, table.OneLine(line)); err != nil {
			return err
		}
	}
	return nil
}
