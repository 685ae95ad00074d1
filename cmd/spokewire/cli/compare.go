package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/ask"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const compareLong = `Say how what OCM selects for a Placement in shadow differs from what Spokewire
would: the clusters that both select, that only OCM does, and that only we
would, with our reasons, and for how much of the kept history both agreed. A
Placement is in shadow with the annotation spokewire.dev/mode: shadow. Of a
cluster that the decision keeps no details of, the reason is recomputed by the
service inquiry, of the first 8 of them. Writes nothing.`

func (a *app) newCompare() *cobra.Command {
	c := &cobra.Command{
		Use: "compare", Short: "Compare what OCM decides with what Spokewire would", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newComparePlacement())
	return c
}

func (a *app) newComparePlacement() *cobra.Command {
	c := &cobra.Command{
		Use: "placement NAMESPACE/NAME", Short: "Compare the decisions of a Placement in shadow", Long: compareLong,
		Example: "  spokewire compare placement default/train -o json",
		Args:    checked(placementName),
	}
	c.RunE = a.onBus(func(ctx context.Context, c *cobra.Command, b bus, args []string) error {
		found, err := comparePlacement(ctx, b, args[0])
		if err != nil {
			return err
		}
		if err := askReasons(ctx, b, found); err != nil {
			return err
		}
		return a.print(c.OutOrStdout(), found, func(w io.Writer) error { return writeCompared(w, found) })
	})
	a.addBus(c)
	a.addOutput(c)
	return c
}

// comparePlacement reads the last decisions and all that are kept.
func comparePlacement(ctx context.Context, b bus, text string) (*inventory.Compared, error) {
	namespace, name, state, err := readPlacement(ctx, b, text)
	if err != nil {
		return nil, err
	}
	history, err := kept(ctx, b, decisionsOf(namespace, name))
	if err != nil {
		return nil, err
	}
	found, err := inventory.Compare(state, namespace, name, history)
	if errors.Is(err, inventory.ErrNoPlacement) {
		return nil, fmt.Errorf("%w: %sspokewire get placements lists what there is", err, elsewhere(inventory.Placements(state), text))
	}
	return found, err
}

// kept reads all events of subjects of SW_DECISIONS, in their order.
func kept(ctx context.Context, b bus, subjects []string) ([]events.Received, error) {
	var all []events.Received
	watch := events.Watch{Stream: events.StreamDecisions, Subjects: subjects, Since: time.Unix(1, 0)}
	err := b.Watch(ctx, watch, func(u events.Update) error {
		switch u.Kind {
		case events.Synced:
			return errStop
		case events.Stored:
			if r, err := events.Read(u.Message); err == nil {
				all = append(all, r)
			}
		}
		return nil
	})
	if !errors.Is(err, errStop) {
		return nil, fmt.Errorf("reading the kept decisions: %w", err)
	}
	return all, nil
}

// maxReasons bounds the clusters whose reason is recomputed.
const maxReasons = 8

// askReasons asks the service inquiry about those that differ and that the
// decision does not detail. Where that does not run, they have no reason.
func askReasons(ctx context.Context, b bus, found *inventory.Compared) error {
	requester, canAsk := b.(events.Requester)
	if !canAsk {
		return nil
	}
	asked := 0
	for _, cluster := range slices.Concat(found.OnlyOCM, found.OnlySpokewire) {
		if found.Reason(cluster) != nil || asked == maxReasons {
			continue
		}
		asked++
		p := found.Spokewire.Placement
		answer, err := ask.Client{Bus: requester}.Explain(ctx, schemas.ExplainAsk{
			Namespace: p.Namespace, Name: p.Name, Cluster: cluster, Sequence: found.Spokewire.Sequence,
		})
		switch {
		case errors.Is(err, events.ErrNoResponder):
			return nil
		case err != nil:
			return err
		case answer.Explanation != nil:
			found.Reasons = append(found.Reasons, *answer.Explanation)
		}
	}
	return nil
}

// maxCompared bounds the lines of the table.
const maxCompared = 40

func writeCompared(w io.Writer, c *inventory.Compared) error {
	p := c.Spokewire.Placement
	facts := [][2]string{
		{"Placement", p.Namespace + "/" + p.Name + " (shadow)"},
		{"OCM selects", placement.Selected(c.OCM.PlacementDecision)},
		{"We would", placement.Selected(c.Spokewire.PlacementDecision)},
		{"Agreement", agreed(c)},
		{"Kept history", history(c)},
	}
	for _, fact := range facts {
		if _, err := fmt.Fprintf(w, "%-14s%s\n", fact[0]+":", table.OneLine(fact[1])); err != nil {
			return err
		}
	}
	if c.Full() {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return writeDiffering(w, c)
}

func writeDiffering(w io.Writer, c *inventory.Compared) error {
	t := table.New(w, "CLUSTER", "SELECTED BY", "OUR VERDICT", "OUR TOTAL", "NOTE")
	lines := 0
	for _, side := range []struct {
		by    string
		names []string
	}{{"OCM", c.OnlyOCM}, {"Spokewire", c.OnlySpokewire}} {
		for _, name := range side.names {
			if lines++; lines <= maxCompared {
				t.Add(differing(c, name, side.by)...)
			}
		}
	}
	if err := t.Flush(); err != nil || lines <= maxCompared {
		return err
	}
	_, err := fmt.Fprintf(w, "and %d more: -o json names them all\n", lines-maxCompared)
	return err
}

func differing(c *inventory.Compared, cluster, by string) []string {
	e := c.Reason(cluster)
	if e == nil {
		return []string{cluster, by, "", "", "spokewire explain placement --cluster says why"}
	}
	return []string{cluster, by, e.Reason, total(e), note(e)}
}

func agreed(c *inventory.Compared) string {
	if c.Full() {
		return fmt.Sprintf("full, both select the same %d", len(c.Both))
	}
	return fmt.Sprintf("%d selected by both, %d by OCM alone, %d by us alone", len(c.Both), len(c.OnlyOCM), len(c.OnlySpokewire))
}

func history(c *inventory.Compared) string {
	k := c.Kept
	if k == nil {
		return "none"
	}
	return fmt.Sprintf("agreed for %.0f%% of the last %s; OCM moved %d clusters, we would have moved %d",
		100*k.Share(), span(time.Duration(k.OfSeconds*float64(time.Second))), k.MovesOCM, k.MovesSpokewire)
}
