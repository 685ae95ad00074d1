package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/checkup"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

var errUnwell = errors.New("not all is well: see above")

func (a *app) newDoctor() *cobra.Command {
	kubeconfig := os.Getenv("KUBECONFIG")
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the bus, the hub and what flows between them",
		Long: `Check that the bus can be used: JetStream, every stream and its settings, this
user's permissions, the clock, the largest message. Then what flows on it:
silent clusters and sources, backlogs, scorers, Placements, unanswered
decisions, two writers of one thing, dead letters. With a kubeconfig, also that
the hub serves what is needed and that hub-bridge may do what it does. What is
not well is said with what to do, and the status is then 1.`,
		Args: cobra.NoArgs,
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx, cancel := context.WithTimeout(c.Context(), a.timeout)
		defer cancel()
		return a.withBus(ctx, func(ctx context.Context, b *jetstream.Bus) error {
			findings := checkup.Check(a.examine(ctx, b, kubeconfig))
			if err := a.print(c.OutOrStdout(), findings, func(w io.Writer) error { return writeFindings(w, findings) }); err != nil {
				return err
			}
			return allWell(findings)
		})
	}
	c.Flags().StringVar(&kubeconfig, "kubeconfig", kubeconfig, "kubeconfig of the hub; empty: the hub is not looked at (default $KUBECONFIG)")
	c.Flags().Lookup("kubeconfig").DefValue = "" // said already
	a.addBus(c)
	a.addOutput(c)
	return c
}

// allWell is an error unless all is well.
func allWell(findings []checkup.Finding) error {
	for _, f := range findings {
		if !f.OK {
			return errUnwell
		}
	}
	return nil
}

func writeFindings(w io.Writer, findings []checkup.Finding) error {
	t := table.New(w, "CHECK", "OK", "DETAIL")
	for _, f := range findings {
		t.Add(f.Check, yesNo(f.OK), f.Detail)
	}
	return t.Flush()
}
