package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/ask"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const replayLong = `Make a decision again from its inputs, at the positions of the streams that it
recorded: the last one of a Placement, or the one at @SEQUENCE. It is Equal, or
Different with each field that differs, or its InputsExpired: the streams keep
the last 64 events of each subject, and the last 32 decisions of each Placement.
Ends with status 0 only if it is Equal.

With --since, all decisions of that last while are made again, of the Placement
or of all. That ends with status 1 if any of them differs. Writes nothing.`

// auditTimeout is for the whole of a long audit, unless --timeout is given.
const auditTimeout = 10 * time.Minute

func (a *app) newReplay() *cobra.Command {
	c := &cobra.Command{
		Use: "replay", Short: "Make decisions again from their inputs", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newReplayPlacement())
	return c
}

func (a *app) newReplayPlacement() *cobra.Command {
	var since time.Duration
	c := &cobra.Command{
		Use: "placement NAMESPACE/NAME[@SEQUENCE] | placement [NAMESPACE/NAME] --since DURATION", Short: "Make a Placement's decision again, or all of a while", Long: replayLong,
		Example: "  spokewire replay placement default/train@41\n  spokewire replay placement --since 1h",
		Args: optional(func(text string) error {
			if since > 0 {
				return placementName(text)
			}
			_, _, _, err := parseDecision(text)
			return err
		}),
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case since < 0:
			return fmt.Errorf("--since is %s, want more than 0", since)
		case since > 0:
			if !c.Flags().Changed("timeout") {
				a.timeout = auditTimeout
			}
			return a.asking(func(ctx context.Context, c *cobra.Command, client ask.Client, args []string) error {
				return a.audit(ctx, c, client, args, since)
			})(c, args)
		case len(args) == 0:
			return errors.New("which Placement? Give NAMESPACE/NAME, or --since DURATION for all decisions of a while")
		}
		return a.asking(a.replay)(c, args)
	}
	c.Flags().DurationVar(&since, "since", 0, "make all decisions of this last while again, for instance 1h")
	a.addBus(c)
	a.addOutput(c)
	return c
}

func (a *app) replay(ctx context.Context, c *cobra.Command, client ask.Client, args []string) error {
	namespace, name, sequence, err := parseDecision(args[0])
	if err != nil {
		return err
	}
	answer, err := client.Replay(ctx, schemas.ReplayAsk{Namespace: namespace, Name: name, Sequence: sequence})
	if err != nil {
		return err
	}
	if err := a.print(c.OutOrStdout(), answer, func(w io.Writer) error { return writeReplay(w, answer) }); err != nil {
		return err
	}
	switch answer.Verdict {
	case schemas.ReplayEqual:
		return nil
	case schemas.ReplayDifferent:
		return errors.New("the decision does not follow from its inputs")
	case schemas.ReplayNotOurs:
		return errors.New("OCM's scheduler made this decision, so it cannot be made again")
	}
	return errors.New("inputs expired, so the decision cannot be made again")
}

func decisionName(d *schemas.DecisionRef) string {
	return fmt.Sprintf("%s/%s@%d", d.Namespace, d.Name, d.Sequence)
}

func writeReplay(w io.Writer, r *schemas.ReplayAnswer) error {
	if _, err := fmt.Fprintf(w, "%s of %s: %s\n", decisionName(&r.Decision), r.Decision.Now.Local().Format(time.DateTime), r.Verdict); err != nil {
		return err
	}
	return writeDifferences(w, r.Differences, r.Expired)
}

func writeDifferences(w io.Writer, differences []schemas.Difference, expired []string) error {
	for _, subject := range expired {
		if _, err := fmt.Fprintf(w, "  expired: %s\n", table.OneLine(subject)); err != nil {
			return err
		}
	}
	if len(differences) == 0 {
		return nil
	}
	t := table.New(w, "FIELD", "WAS", "IS")
	for _, d := range differences {
		t.Add(d.Field, d.Was, d.Is)
	}
	return t.Flush()
}

// audited is what -o json shows of a whole audit.
type audited struct {
	Since   time.Duration          `json:"-"`
	Counts  map[string]int         `json:"counts"`
	Results []schemas.ReplayAnswer `json:"results"`
}

func (a *app) audit(ctx context.Context, c *cobra.Command, client ask.Client, args []string, since time.Duration) error {
	q := schemas.AuditAsk{From: time.Now().Add(-since)}
	if len(args) > 0 {
		var err error
		if q.Namespace, q.Name, err = parsePlacement(args[0]); err != nil {
			return err
		}
	}
	all := audited{Since: since, Counts: map[string]int{}, Results: []schemas.ReplayAnswer{}}
	err := client.Audit(ctx, q, func(answer *schemas.AuditAnswer) error {
		for verdict, n := range answer.Counts {
			all.Counts[verdict] += n
		}
		all.Results = append(all.Results, answer.Results...)
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.print(c.OutOrStdout(), &all, all.write); err != nil {
		return err
	}
	if n := all.Counts[schemas.ReplayDifferent]; n > 0 {
		return fmt.Errorf("%d decisions do not follow from their inputs", n)
	}
	return nil
}

func (a *audited) write(w io.Writer) error {
	t := table.New(w, "DECISION", "MADE", "VERDICT", "FIRST DIFFERENCE OR EXPIRED INPUT")
	for i := range a.Results {
		r := &a.Results[i]
		note := ""
		switch {
		case len(r.Differences) > 0:
			note = fmt.Sprintf("%s was %s, is %s", r.Differences[0].Field, r.Differences[0].Was, r.Differences[0].Is)
		case len(r.Expired) > 0:
			note = r.Expired[0]
		}
		t.Add(decisionName(&r.Decision), clock(r.Decision.Now), r.Verdict, shorten(note))
	}
	if len(a.Results) > 0 {
		if err := t.Flush(); err != nil {
			return err
		}
	}
	total := 0
	for _, n := range a.Counts {
		total += n
	}
	text := ""
	for _, verdict := range slices.Sorted(maps.Keys(a.Counts)) {
		text += fmt.Sprintf(", %d %s", a.Counts[verdict], verdict)
	}
	_, err := fmt.Fprintf(w, "%d decisions in %s%s\n", total, a.Since, text)
	return err
}
