package cli

import "github.com/spf13/cobra"

// newScorer is what helps to write scorers; apply puts them to work.
func (a *app) newScorer() *cobra.Command {
	c := &cobra.Command{
		Use:   "scorer",
		Short: "Try a Scorer, write a scoring service, check whether one speaks the scoring API",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newScorerInit(), a.newScorerTest(), a.newScorerVerify())
	return c
}
