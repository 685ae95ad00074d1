package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const rebalanceLong = `Have a direct Placement decided once as if nothing were selected: without the
prioritizer Steady, dead band, stabilisation window, minimum dwell and cooldown.
Its change budget is kept: where that lets only some clusters move now, the others
follow as it lets them, until --for is over. What comes up meanwhile is not part of
it.

rebalance waits for the decision, and prints what moves; --until-done waits for all
of it, --wait=false for nothing. To look before: spokewire whatif placement
NAMESPACE/NAME --rebalance.`

func (a *app) newRebalance() *cobra.Command {
	c := &cobra.Command{
		Use: "rebalance", Short: "Decide anew what flap control keeps as it is", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newRebalancePlacement())
	return c
}

const defaultRebalance = time.Duration(schemas.DefaultRebalanceTime)

// rebalancing is one call of rebalance placement.
type rebalancing struct {
	reason, by    string
	validFor      time.Duration
	wait, tillEnd bool

	namespace, name, id string
	sequence            uint64 // of the request
	before              *schemas.PlacementDecision
}

func (a *app) newRebalancePlacement() *cobra.Command {
	r := &rebalancing{wait: true, validFor: defaultRebalance}
	c := &cobra.Command{
		Use: "placement NAMESPACE/NAME", Short: "Decide a Placement once as if nothing were selected", Long: rebalanceLong, Args: checked(placementName),
		Example: "  spokewire rebalance placement default/train --reason 'two clusters came back'",
	}
	c.RunE = a.onBus(func(ctx context.Context, c *cobra.Command, b bus, args []string) error {
		done, err := r.run(ctx, b, args[0])
		if err != nil {
			return err
		}
		return a.print(c.OutOrStdout(), done, done.write)
	})
	c.Flags().StringVar(&r.reason, "reason", "", "why, for those who read it")
	c.Flags().StringVar(&r.by, "by", myName(), "who asks")
	c.Flags().DurationVar(&r.validFor, "for", r.validFor, "how long clusters may move that the change budget makes wait")
	c.Flags().BoolVar(&r.wait, "wait", true, "wait for the decision")
	c.Flags().BoolVar(&r.tillEnd, "until-done", false, "wait until all have moved")
	a.addBus(c)
	a.addOutput(c)
	return c
}

// rebalanced is what came of it.
type rebalanced struct {
	Placement string `json:"placement"`
	ID        string `json:"id"`
	// Request is where it stands in SW_CONFIG, Decision where the last
	// decision that went on with it stands, 0 if it was not waited for.
	Request  uint64   `json:"request"`
	Decision uint64   `json:"decision,omitempty"`
	Clusters []string `json:"clusters,omitempty"`
	// Added and Removed are against the decision before the request.
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	// Remaining is how many clusters are to move yet, Next when the first of
	// them may.
	Remaining int        `json:"remaining"`
	Next      *time.Time `json:"next,omitempty"`
}

func (r *rebalancing) run(ctx context.Context, b bus, text string) (*rebalanced, error) {
	namespace, name, state, err := readPlacement(ctx, b, text)
	if err != nil {
		return nil, err
	}
	r.namespace, r.name = namespace, name
	if err := r.check(state, text); err != nil {
		return nil, err
	}
	if err := r.ask(ctx, b); err != nil {
		return nil, err
	}
	done := &rebalanced{Placement: r.namespace + "/" + r.name, ID: r.id, Request: r.sequence, Added: []string{}, Removed: []string{}}
	if !r.wait {
		return done, nil
	}
	decision, err := r.await(ctx, b)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && decision == nil:
		return nil, &timeUp{fmt.Sprintf("%s: the request stands in %s as %d, but no decision honours it (is placement-writer running? are the Placement's settings sound? --wait=false does not wait)", done.Placement, events.StreamConfig, r.sequence)}
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &timeUp{fmt.Sprintf("%s: %d to move yet, as the change budget makes them wait; it goes on", done.Placement, decision.Rebalance.Remaining)}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", done.Placement, err)
	}
	done.take(r.before, decision)
	return done, nil
}

// check refuses what Spokewire does not decide, and keeps the last decision.
func (r *rebalancing) check(state *inventory.State, text string) error {
	for _, p := range inventory.Placements(state) {
		switch {
		case p.Namespace != r.namespace || p.Name != r.name:
			continue
		case p.Mode == schemas.ModeNative:
			return fmt.Errorf("%s/%s is native: OCM decides it, and knows no flap control to go round (its prioritizer Steady is a matter of the Placement's spec)", p.Namespace, p.Name)
		case p.Decision == nil:
			return fmt.Errorf("%s/%s has no decision%s", p.Namespace, p.Name, undecided(state, p.Namespace, p.Name))
		}
		r.before = p.Decision.PlacementDecision
		return nil
	}
	return fmt.Errorf("%q is not among the placements (%sspokewire get placements lists what there is)", text, elsewhere(inventory.Placements(state), text))
}

func (r *rebalancing) ask(ctx context.Context, b bus) error {
	r.id = events.NewID()
	validFor := schemas.Duration(r.validFor)
	e, err := events.New(schemas.TypeConfigRebalance, events.ServiceSource(requester), &schemas.Rebalance{
		APIVersion: schemas.RebalanceAPIVersion, Kind: schemas.RebalanceKind,
		Metadata: schemas.Metadata{Namespace: r.namespace, Name: r.name},
		Spec:     schemas.RebalanceSpec{ID: r.id, ValidFor: &validFor, By: r.by, Reason: r.reason},
	})
	if err != nil {
		return err
	}
	ack, err := b.Publish(ctx, r.subject(), e)
	r.sequence = ack.Sequence
	return err
}

func (r *rebalancing) subject() string {
	return events.ConfigSubject(events.KindRebalance, r.namespace, r.name)
}

func (r *rebalancing) decisions() string {
	return events.DecisionSubject(events.KindPlacement, r.namespace, r.name)
}

var (
	errSuperseded = errors.New("a newer request took its place")
	errOver       = errors.New("it ended before all had moved: look (spokewire explain placement), and ask again, with a longer --for")
)

// await returns the decision that honours the request, or with --until-done
// the one that ends it; with an error the last that it saw, nil if none.
func (r *rebalancing) await(ctx context.Context, b bus) (*inventory.Decision, error) {
	var found *inventory.Decision
	watches := []events.Watch{
		{Stream: events.StreamDecisions, Subjects: []string{r.decisions()}},
		{Stream: events.StreamConfig, Subjects: []string{r.subject()}},
	}
	err := events.Feed(ctx, b, watches, func(batch events.Batch) error {
		for _, u := range batch.Updates {
			switch d := r.honours(u.Message); {
			case d != nil:
				found = d
			case found != nil && u.Kind == events.Stored && u.Message.Subject == r.decisions():
				return errOver
			}
			if found != nil && (!r.tillEnd || found.Rebalance.Remaining == 0) {
				return errStop
			}
		}
		for _, u := range batch.Updates {
			if u.Message.Subject == r.subject() && u.Message.Sequence > r.sequence {
				return errSuperseded
			}
		}
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return found, err
}

// honours returns m's decision if it is one that honours the request.
func (r *rebalancing) honours(m events.Message) *inventory.Decision {
	received, err := events.Read(m)
	if err != nil {
		return nil
	}
	d, isDecision := received.Payload.(*schemas.PlacementDecision)
	if !isDecision || d.Rebalance == nil || d.Rebalance.ID != r.id {
		return nil
	}
	return &inventory.Decision{Sequence: m.Sequence, ReceivedAt: m.ReceivedAt, PlacementDecision: d}
}

// take fills in what a decision says.
func (d *rebalanced) take(before *schemas.PlacementDecision, after *inventory.Decision) {
	d.Decision, d.Remaining = after.Sequence, after.Rebalance.Remaining
	was, is := map[string]bool{}, map[string]bool{}
	for _, c := range before.Clusters {
		was[c.Name] = true
	}
	for _, c := range after.Clusters {
		is[c.Name] = true
		d.Clusters = append(d.Clusters, c.Name)
		if !was[c.Name] {
			d.Added = append(d.Added, c.Name)
		}
	}
	for _, c := range before.Clusters {
		if !is[c.Name] {
			d.Removed = append(d.Removed, c.Name)
		}
	}
	if at, waits := after.Timers["ChangeBudget"]; waits && d.Remaining > 0 {
		d.Next = &at
	}
}

func (d *rebalanced) write(w io.Writer) error {
	what := "nothing to move"
	switch {
	case d.Decision == 0:
		what = fmt.Sprintf("requested (%d in %s)", d.Request, events.StreamConfig)
	case len(d.Added)+len(d.Removed) > 0:
		what = fmt.Sprintf("in: %s; out: %s", list(d.Added), list(d.Removed))
	case d.Remaining > 0:
		what = "nothing moves yet"
	}
	if d.Remaining > 0 {
		what += fmt.Sprintf("; %d to move as the change budget lets them", d.Remaining)
	}
	if d.Next != nil {
		what += ", the next at " + d.Next.Format(time.RFC3339)
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", d.Placement, what)
	return err
}
