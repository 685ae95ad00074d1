package cli

import "github.com/spf13/cobra"

// newScorer is what helps to write scorers; apply puts them to work.
func (a *app) newScorer() *cobra.Command {
	c := &cobra.Command{
		Use:   "scorer",
		Short: "Write a scoring service, and check whether one speaks the scoring API",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newScorerInit(), a.newScorerVerify())
	return c
}
