package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/brief"
	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/ask"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const whatIfLong = `Say what would be decided of a Placement now if something were otherwise, and
how that differs from its last decision. Flags may be repeated. Writes nothing.

  --metric C:SERIES=VALUE     a sample of cluster C, scored by the Scorers that the Placement counts
  --score C:SCORER[/ITEM]=N   a score of C from -100 to 100, or none
  --taint C:KEY=VALUE:EFFECT  a taint more; --untaint C[:KEY] takes them off
  --cordon C, --drain C       a cluster that takes nothing new, or is being drained (with --force);
                              --uncordon C ends that
  --rebalance                 as if nothing were selected, but for the change budget
  --remove C                  a cluster less
  --add C, C=LIKE or FILE     a cluster more: in the Placement's set and without scores, or with
                              labels, claims, resources and scores of cluster LIKE, or a ManagedCluster
  --spec FILE                 another Placement; with its annotations, if it has some`

func (a *app) newWhatIf() *cobra.Command {
	c := &cobra.Command{
		Use: "whatif", Short: "Say what would be decided if something were otherwise", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newWhatIfPlacement())
	return c
}

func (a *app) newWhatIfPlacement() *cobra.Command {
	var h hypotheses
	var q *schemas.WhatIfAsk
	c := &cobra.Command{
		Use: "placement NAMESPACE/NAME", Short: "Say what would be decided of a Placement", Long: whatIfLong,
		Example: `  spokewire whatif placement default/train --metric spoke-2:gpu_free=0
  spokewire whatif placement default/train --taint spoke-2:maintenance:NoSelect --add spoke-9=spoke-1`,
		Args: checked(func(text string) (err error) {
			q, err = h.ask(text)
			return err
		}),
	}
	c.RunE = a.asking(func(ctx context.Context, c *cobra.Command, client ask.Client, _ []string) error {
		answer, err := client.WhatIf(ctx, *q)
		if err != nil {
			return err
		}
		return a.print(c.OutOrStdout(), answer, func(w io.Writer) error { return writeWhatIf(w, answer) })
	})
	h.addFlags(c.Flags())
	a.addBus(c)
	a.addOutput(c)
	return c
}

// writeWhatIf writes the decision, its difference to today's, and the totals.
func writeWhatIf(w io.Writer, a *schemas.WhatIfAnswer) error {
	today := "nothing was decided yet"
	if a.Today != nil {
		today = "decision " + decisionName(a.Today)
	}
	facts := [][2]string{
		{"Today", today},
		{"What if", placement.Selection(&a.Decision)},
		{"Added", list(a.Added)},
		{"Removed", list(a.Removed)},
		{"Not eligible", list(brief.Counts(a.Decision.Rejected))},
		{"Would change", changes(a)},
	}
	for _, c := range a.Decision.Conditions {
		if good := c.Reason == placement.ReasonSatisfied || c.Reason == placement.ReasonConfigured; good {
			continue
		}
		facts = append(facts, [2]string{"Condition", fmt.Sprintf("%s=%s, %s: %s", c.Type, c.Status, c.Reason, c.Message)})
	}
	for _, s := range a.Scores {
		facts = append(facts, [2]string{"Score", fmt.Sprintf("%s/%s of %s = %s", s.Scorer, s.Item, s.Cluster, valueOr(s.Value, "none"))})
	}
	for _, fact := range facts {
		if fact[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-14s%s\n", fact[0]+":", table.OneLine(fact[1])); err != nil {
			return err
		}
	}
	if len(a.Decision.Explanations) == 0 {
		return nil
	}
	x := &inventory.Explained{Decision: &inventory.Decision{PlacementDecision: &a.Decision}}
	return writeTotals(w, x, a.Decision.Explanations)
}

func changes(a *schemas.WhatIfAnswer) string {
	switch {
	case len(a.Added)+len(a.Removed)+len(a.Differences) == 0:
		return "nothing"
	case len(a.Added)+len(a.Removed) == 0:
		return "no cluster comes or goes, only " + list(fieldsOf(a.Differences))
	}
	return "the selection"
}

func fieldsOf(differences []schemas.Difference) []string {
	var names []string
	for _, d := range differences {
		names = append(names, d.Field)
	}
	return names
}
