package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/brief"
	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const drainLong = `Let direct Placements select a cluster no more, and have those that have selected
it select others, as fast as their change budget and cooldown let them. A
Placement keeps the cluster for as long as no other can take its place; --force
takes it away all the same. One that selects all clusters there are just loses it,
unless it is the last.

drain waits until no Placement selects the cluster, and says meanwhile which do
and why; --wait=false only asks. The drain goes on when the command has ended, and
spokewire uncordon ends it. Placements that OCM decides (native) know nothing of
it: with these left alone, drain ends and says so.`

// drainTimeout is how long drain waits unless --timeout says.
const drainTimeout = 10 * time.Minute

func (a *app) newDrain() *cobra.Command {
	var flags cordoning
	var force bool
	wait := true
	c := &cobra.Command{
		Use: "drain CLUSTER", Short: "Move what direct Placements have selected away from a cluster", Long: drainLong, Args: cobra.ExactArgs(1),
		Example: "  spokewire drain spoke-2 --reason 'kernel upgrade' --timeout 30m",
	}
	drain := a.onBus(func(ctx context.Context, c *cobra.Command, b bus, args []string) error {
		done, before, err := flags.ask(ctx, c, b, args[0], schemas.CordonSpec{State: schemas.CordonDraining, Force: force})
		if err != nil {
			return err
		}
		d := &draining{cordonDone: *done, app: a, out: c.OutOrStdout(), said: map[string]string{}}
		for _, h := range inventory.Holders(before, args[0]) {
			d.said[h.Namespace+"/"+h.Name] = ""
		}
		if !wait {
			return a.print(d.out, done, done.write)
		}
		return d.follow(ctx, b)
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if !c.Flags().Changed("timeout") {
			a.timeout = drainTimeout
		}
		return drain(c, args)
	}
	flags.add(c)
	c.Flags().BoolVar(&force, "force", false, "take the cluster away where no other takes its place, too")
	c.Flags().BoolVar(&wait, "wait", wait, "wait until no Placement selects the cluster")
	a.addBus(c)
	c.Flags().Lookup("timeout").DefValue = drainTimeout.String()
	a.addOutput(c)
	return c
}

// draining is one call of drain.
type draining struct {
	cordonDone
	// Drained is true once no Placement selects the cluster.
	Drained bool `json:"drained"`
	// Moved are the Placements that have let it go meanwhile.
	Moved []string `json:"moved"`
	// Holders are those that select it still.
	Holders []inventory.Holder `json:"holders"`

	app  *app
	out  io.Writer
	said map[string]string // of each holder
}

var errLifted = errors.New("the drain was ended or replaced by another request")

// follow tells what moves until nothing is left, and prints the outcome.
func (d *draining) follow(ctx context.Context, b bus) error {
	d.Moved = []string{}
	if err := d.tell("%s: draining (%d in %s)", d.Cluster, d.Sequence, d.Stream); err != nil {
		return err
	}
	watches, err := cordonWatches(d.Cluster)
	if err != nil {
		return err
	}
	state := inventory.New()
	err = events.Feed(ctx, b, watches, func(batch events.Batch) error {
		for _, u := range batch.Updates {
			state.Take(u)
			if d.replacedBy(u.Message) {
				return errLifted
			}
		}
		if !batch.Synced {
			return nil
		}
		return d.look(state)
	})
	switch {
	case errors.Is(err, errStop):
		err = d.nativesLeft()
	case errors.Is(err, context.DeadlineExceeded):
		err = &timeUp{fmt.Sprintf("%s is not drained: %s (the drain goes on; spokewire uncordon %s ends it)", d.Cluster, d.left(), d.Cluster)}
	case err != nil:
		err = fmt.Errorf("%s: %w", d.Cluster, err)
	}
	d.Drained = err == nil
	if d.app.output == outputTable && !d.Drained {
		return err
	}
	return errors.Join(d.app.print(d.out, d, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: drained, no Placement selects it\n", d.Cluster)
		return err
	}), err)
}

// replacedBy reports whether a message is a later word on the cluster.
func (d *draining) replacedBy(m events.Message) bool {
	return m.Subject == events.ConfigSubject(events.KindCordon, "", d.Cluster) && m.Sequence > d.Sequence
}

// look tells of the Placements that let the cluster go and of those that keep
// it. It returns errStop once waiting changes nothing any more.
func (d *draining) look(state *inventory.State) error {
	d.Holders = inventory.Holders(state, d.Cluster)
	left := map[string]bool{}
	waiting := 0
	for _, h := range d.Holders {
		name := h.Namespace + "/" + h.Name
		left[name] = true
		if h.Mode != schemas.ModeNative {
			waiting++
		}
		why := ""
		if h.Reason == placement.ExplainedHeld {
			why = h.Message
		}
		if why != "" && d.said[name] != why {
			if err := d.tell("%s: %s", name, why); err != nil {
				return err
			}
		}
		d.said[name] = why
	}
	for _, name := range slices.Sorted(maps.Keys(d.said)) {
		if left[name] {
			continue
		}
		delete(d.said, name)
		d.Moved = append(d.Moved, name)
		if err := d.tell("%s: moved%s", name, selectedNow(state, name)); err != nil {
			return err
		}
	}
	if waiting == 0 {
		return errStop
	}
	return nil
}

// selectedNow says what a Placement selects instead.
func selectedNow(state *inventory.State, name string) string {
	for _, p := range inventory.Placements(state) {
		if p.Namespace+"/"+p.Name == name && p.Decision != nil {
			return ", it selects " + placement.Selected(p.Decision.PlacementDecision)
		}
	}
	return ", it is gone"
}

func (d *draining) tell(format string, args ...any) error {
	if d.app.output != outputTable {
		return nil
	}
	_, err := fmt.Fprintf(d.out, format+"\n", args...)
	return err
}

// nativesLeft is the error of a drain that has nothing more to wait for.
func (d *draining) nativesLeft() error {
	if len(d.Holders) == 0 {
		return nil
	}
	var names []string
	for _, h := range d.Holders {
		names = append(names, h.Namespace+"/"+h.Name)
	}
	return fmt.Errorf("%s is drained but for %s, which OCM decides: taint the ManagedCluster (kubectl)", d.Cluster, list(names))
}

// left says who keeps the cluster, and why.
func (d *draining) left() string {
	var parts []string
	for _, h := range d.Holders {
		parts = append(parts, fmt.Sprintf("%s/%s (%s)", h.Namespace, h.Name, cmp.Or(h.Message, h.Mode)))
	}
	if len(parts) == 0 {
		return "the bus was not read"
	}
	return strings.Join(parts[:min(len(parts), brief.Most)], "; ") + more(len(parts)-brief.Most)
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
