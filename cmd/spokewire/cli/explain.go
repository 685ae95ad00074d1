package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/ask"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func (a *app) newExplain() *cobra.Command {
	c := &cobra.Command{
		Use:   "explain",
		Short: "Say why a decision is as it is",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newExplainPlacement())
	return c
}

func (a *app) newExplainPlacement() *cobra.Command {
	cluster := ""
	c := &cobra.Command{
		Use:   "placement NAMESPACE/NAME",
		Short: "Say why a Placement selects the clusters that it does",
		Long: `Say why a Placement selects the clusters that it does, from its last decision:
each cluster's total and the terms of it, the runners-up, and why others were
not eligible. Of a Placement in shadow it is what Spokewire would decide. With
--cluster, also what that cluster's scores were computed from, and what would
have to change for it to be selected. Of a cluster that the decision keeps no
details of, they are recomputed from the decision's inputs, as long as the
streams keep them.`,
		Example: "  spokewire explain placement default/train --cluster spoke-2",
		Args:    checked(placementName),
	}
	c.RunE = a.onBus(func(ctx context.Context, c *cobra.Command, b bus, args []string) error {
		x, err := explainPlacement(ctx, b, args[0], cluster)
		if err != nil {
			return err
		}
		if err := askWhy(ctx, b, x); err != nil {
			return err
		}
		return a.print(c.OutOrStdout(), x, func(w io.Writer) error { return writeExplained(w, x) })
	})
	c.Flags().StringVar(&cluster, "cluster", "", "explain this cluster alone, down to its metrics")
	a.addBus(c)
	a.addOutput(c)
	return c
}

// askWhy asks the service inquiry about the one cluster. Where that does not
// run, the decision says what it can.
func askWhy(ctx context.Context, b bus, x *inventory.Explained) error {
	requester, canAsk := b.(events.Requester)
	if x.Cluster == "" || !canAsk {
		return nil
	}
	p := x.Decision.Placement
	why, err := ask.Client{Bus: requester}.Explain(ctx, schemas.ExplainAsk{
		Namespace: p.Namespace, Name: p.Name, Cluster: x.Cluster, Sequence: x.Decision.Sequence,
	})
	if errors.Is(err, events.ErrNoResponder) {
		return nil
	}
	x.Why = why
	return err
}

// explainPlacement reads the last decision with its receipt, and what there
// is of cluster unless that is empty.
func explainPlacement(ctx context.Context, b bus, text, cluster string) (*inventory.Explained, error) {
	var more []events.Watch
	if cluster != "" {
		more = watchesOfCluster(cluster)
	}
	namespace, name, state, err := readPlacement(ctx, b, text, more...)
	if err != nil {
		return nil, err
	}
	x, err := inventory.Explain(state, namespace, name, cluster)
	switch {
	case err == nil:
		return x, answered(ctx, b, x)
	case errors.Is(err, inventory.ErrNoPlacement):
		return nil, fmt.Errorf("%w: %sspokewire get placements lists what there is", err, elsewhere(inventory.Placements(state), text))
	case errors.Is(err, inventory.ErrNoDecision):
		return nil, fmt.Errorf("%w%s", err, undecided(state, namespace, name))
	case errors.Is(err, inventory.ErrNoCluster):
		return nil, fmt.Errorf("%w: neither the hub nor a metric nor a score speaks of it; spokewire get clusters lists what there is", err)
	}
	return nil, err
}

// watchesOfCluster are for what there is of one cluster.
func watchesOfCluster(cluster string) []events.Watch {
	return []events.Watch{
		{Stream: events.StreamHub, Subjects: []string{events.HubSubject(events.KindCluster, "", cluster)}},
		{Stream: events.StreamMetrics, Subjects: metricsOf(cluster)},
		{Stream: events.StreamScores, Subjects: scoresOf(cluster)},
	}
}

// answered looks through the receipts since the decision.
func answered(ctx context.Context, b bus, x *inventory.Explained) error {
	p := x.Decision.Placement
	watch := events.Watch{Stream: events.StreamReceipts, Subjects: []string{receiptsOf(p.Namespace, p.Name)}, Since: x.Decision.ReceivedAt}
	var receipts []events.Message
	err := b.Watch(ctx, watch, func(u events.Update) error {
		switch u.Kind {
		case events.Stored:
			receipts = append(receipts, u.Message)
		case events.Synced:
			return errStop
		}
		return nil
	})
	if !errors.Is(err, errStop) {
		return fmt.Errorf("reading the receipts: %w", err)
	}
	x.Answered(receipts)
	return nil
}

// undecided says why there may be no decision.
func undecided(state *inventory.State, namespace, name string) string {
	for _, p := range inventory.Placements(state) {
		switch {
		case p.Namespace != namespace || p.Name != name:
		case p.Receipt != nil && p.Receipt.Outcome == schemas.OutcomeRefused:
			return ": the hub refused it: " + p.Receipt.Message
		case !p.OnHub:
			return ": it was applied over the bus and is not on the hub yet; is hub-bridge running?"
		case p.Mode == schemas.ModeNative, p.Mode == schemas.ModeShadow && p.Shadow != nil:
			return ": OCM has decided nothing for it; is its placement controller running?"
		}
	}
	return ": is placement-writer running?"
}
