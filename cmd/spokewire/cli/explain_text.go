package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// writeExplained writes x for people: what was decided and why, the clusters
// with the terms of their totals, and who was left out.
func writeExplained(w io.Writer, x *inventory.Explained) error {
	if err := writeFacts(w, x); err != nil {
		return err
	}
	if x.Cluster != "" {
		return writeCluster(w, x)
	}
	if len(x.Decision.Explanations) > 0 {
		return writeTotals(w, x, x.Decision.Explanations)
	}
	if x.Decision.Mode == schemas.ModeNative {
		_, err := fmt.Fprintln(w, "\nOCM's scheduler decided this and does not say more.")
		return err
	}
	return nil
}

func writeFacts(w io.Writer, x *inventory.Explained) error {
	d := x.Decision
	facts := [][2]string{
		{"Placement", fmt.Sprintf("%s/%s (%s, decided by %s)", d.Placement.Namespace, d.Placement.Name, d.Mode, d.Scheduler)},
		{"Decision", fmt.Sprintf("%d, %s ago (previous: %s)", d.Sequence, age(x.Now, d.ReceivedAt), previous(d))},
	}
	for _, f := range placement.Facts(d.PlacementDecision) {
		facts = append(facts, [2]string{f.Name, f.Text})
	}
	facts = append(facts, [2]string{"On the hub", onHub(x)}, [2]string{"OCM", beside(x.Agreement)})
	for _, fact := range facts {
		if fact[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-14s%s\n", fact[0]+":", table.OneLine(fact[1])); err != nil {
			return err
		}
	}
	return nil
}

func previous(d *inventory.Decision) string {
	if d.Previous == 0 {
		return "none"
	}
	return strconv.FormatUint(d.Previous, 10)
}

// onHub says what became of the decision. OCM's own need no answer.
func onHub(x *inventory.Explained) string {
	r := x.Receipt
	switch {
	case r == nil && x.Decision.Mode != schemas.ModeDirect:
		return ""
	case r == nil:
		return "not answered yet"
	}
	text := fmt.Sprintf("%s %s after the decision", r.Outcome, millis(r.LagMillis))
	if r.OriginLagMillis > 0 {
		text += fmt.Sprintf(", %s after the event that set it off", millis(r.OriginLagMillis))
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// beside says how a shadow decision compares with what OCM does.
func beside(a *placement.Agreement) string {
	switch {
	case a == nil:
		return ""
	case a.Full():
		return "selects the same"
	}
	var parts []string
	if len(a.OnlyOCM) > 0 {
		parts = append(parts, "selects "+list(a.OnlyOCM)+" too")
	}
	if len(a.OnlySpokewire) > 0 {
		parts = append(parts, "does not select "+list(a.OnlySpokewire))
	}
	return strings.Join(parts, ", ") + " (spokewire compare placement)"
}

// writeTotals writes a table of clusters, with a column for each prioritizer.
func writeTotals(w io.Writer, x *inventory.Explained, explanations []schemas.Explanation) error {
	prioritizers := x.Prioritizers()
	columns := append(append([]string{"CLUSTER", "VERDICT", "TOTAL"}, prioritizers...), "NOTE")
	t := table.New(w, columns...)
	for _, e := range explanations {
		row := []string{e.Cluster, verdict(x, &e), total(&e)}
		for _, name := range prioritizers {
			row = append(row, term(&e, name))
		}
		t.Add(append(row, note(&e))...)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return t.Flush()
}

func verdict(x *inventory.Explained, e *schemas.Explanation) string {
	if rank := x.Selected(e.Cluster); rank > 0 {
		return fmt.Sprintf("%s (%d.)", e.Reason, rank)
	}
	return e.Reason
}

func total(e *schemas.Explanation) string {
	if e.Score == nil {
		return ""
	}
	return strconv.FormatInt(*e.Score, 10)
}

// term is what one prioritizer adds to the total: score x weight.
func term(e *schemas.Explanation, prioritizer string) string {
	for _, p := range e.Prioritizers {
		if p.Name == prioritizer {
			return fmt.Sprintf("%d x %d", p.Score, p.Weight)
		}
	}
	return ""
}

func note(e *schemas.Explanation) string {
	var notes []string
	if e.Message != "" {
		notes = append(notes, e.Message)
	}
	for _, p := range e.Prioritizers {
		if p.Message != "" {
			notes = append(notes, p.Name+": "+p.Message)
		}
	}
	return strings.Join(notes, "; ")
}

// writeCluster writes one cluster's line and what its scores were computed
// from.
func writeCluster(w io.Writer, x *inventory.Explained) error {
	if err := writeVerdict(w, x); err != nil {
		return err
	}
	if x.Why != nil {
		if err := writeWhy(w, x.Why); err != nil {
			return err
		}
	}
	if len(x.Scores) == 0 {
		_, err := fmt.Fprintf(w, "\nNo scorer has scored %s.\n", x.Cluster)
		return err
	}
	for i := range x.Scores {
		if err := writeInputs(w, &x.Scores[i], x.Now); err != nil {
			return err
		}
	}
	return nil
}

func writeVerdict(w io.Writer, x *inventory.Explained) error {
	if e := x.Explanation(x.Cluster); e != nil {
		return writeTotals(w, x, []schemas.Explanation{*e})
	}
	text := "is not selected, and the decision keeps no details of it"
	if rank := x.Selected(x.Cluster); rank > 0 {
		text = fmt.Sprintf("is selected (%d.) with a total of %d; the decision keeps no details of it", rank, x.Decision.Clusters[rank-1].Score)
	}
	_, err := fmt.Fprintf(w, "\n%s %s.\n", x.Cluster, text)
	return err
}

// writeInputs writes one score item, and the values that it was computed
// from, with their age.
func writeInputs(w io.Writer, s *inventory.Score, now time.Time) error {
	line := fmt.Sprintf("Score %s/%s = %s", s.Scorer, s.Name, valueOr(s.Value, "none"))
	if s.Raw != nil {
		line += " (raw " + raw(s.Raw) + ")"
	}
	line += ", " + s.Reason
	if s.Message != "" {
		line += ": " + s.Message
	}
	line += ", computed " + age(now, s.ReceivedAt) + " ago"
	switch left := expiry(s.ExpiresAt, now); left {
	case "":
	case "expired":
		line += ", expired"
	default:
		line += ", expires in " + left
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", table.OneLine(line)); err != nil {
		return err
	}
	if len(s.Inputs) == 0 {
		return nil
	}
	t := table.New(w, "INPUT", "NAME", "VALUE", "AGE", "FROM")
	for _, in := range s.Inputs {
		t.Add(in.Kind, in.Name, in.Value, observedAge(in.ObservedAt, now), origin(&in))
	}
	return t.Flush()
}

func observedAge(at *time.Time, now time.Time) string {
	if at == nil {
		return ""
	}
	return age(now, *at)
}

func origin(in *schemas.ScoreInput) string {
	if in.Subject == "" {
		return ""
	}
	at := strconv.FormatUint(in.Sequence, 10)
	if in.First != 0 && in.First != in.Sequence {
		at = strconv.FormatUint(in.First, 10) + "-" + at
	}
	return in.Subject + "#" + at
}
