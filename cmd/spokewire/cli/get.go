package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/events"
)

// resource is one kind of thing that get lists.
type resource[T any] struct {
	use, short string
	noun       string // what messages call it; default: use
	watches    func(name string) ([]events.Watch, error)
	list       func(s *inventory.State) []T
	is         func(item *T, name string) bool
	// scope, if set, says what a flag narrows the list to.
	scope func() string
	// absent, if set, has a hint for a name that is not there.
	absent  func(all []T, name string) string
	columns []string
	row     func(item *T, now time.Time) []string
}

func (a *app) newGet() *cobra.Command {
	c := &cobra.Command{
		Use:   "get",
		Short: "List clusters, scorers, scores, Placements or their policy as they are now",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newResource(a, clustersResource()),
		newResource(a, scorersResource()),
		a.newGetScores(),
		newResource(a, placementsResource()),
		newResource(a, policiesResource()),
	)
	return c
}

func newResource[T any](a *app, r resource[T]) *cobra.Command {
	c := &cobra.Command{
		Use:   r.use + " [NAME]",
		Short: r.short,
		Args: optional(func(name string) error {
			_, err := r.watches(name)
			return err
		}),
	}
	c.RunE = a.onBus(func(ctx context.Context, c *cobra.Command, b bus, args []string) error {
		name := ""
		if len(args) > 0 {
			name = args[0]
		}
		return r.show(ctx, a, c, b, name)
	})
	a.addBus(c)
	a.addOutput(c)
	return c
}

func (r *resource[T]) show(ctx context.Context, a *app, c *cobra.Command, b bus, name string) error {
	watches, err := r.watches(name)
	if err != nil {
		return err
	}
	state, err := read(ctx, b, watches...)
	if err != nil {
		return err
	}
	warnUnreadable(c, state.Unreadable())
	items, err := r.named(state, name)
	if err != nil {
		return err
	}
	if len(items) == 0 && a.output == outputTable {
		c.PrintErrln("no " + r.called())
		return nil
	}
	return a.print(c.OutOrStdout(), items, func(w io.Writer) error { return r.write(w, items, state.Now()) })
}

// warnUnreadable says in one line what was left out.
func warnUnreadable(c *cobra.Command, bad []error) {
	switch len(bad) {
	case 0:
	case 1:
		c.PrintErrln("left out, cannot be read:", bad[0])
	default:
		c.PrintErrf("left out, cannot be read: %d subjects (spokewire dead list has those that a service refused), the first: %v\n", len(bad), bad[0])
	}
}

// called is what messages call the list.
func (r *resource[T]) called() string {
	noun := cmp.Or(r.noun, r.use)
	if r.scope == nil {
		return noun
	}
	return noun + r.scope()
}

// named lists the items of that name, all if it is empty.
func (r *resource[T]) named(state *inventory.State, name string) ([]T, error) {
	all := r.list(state)
	if name == "" {
		return all, nil
	}
	var items []T
	for i := range all {
		if r.is(&all[i], name) {
			items = append(items, all[i])
		}
	}
	if len(items) == 0 {
		hint := ""
		if r.absent != nil {
			hint = r.absent(all, name)
		}
		return nil, fmt.Errorf("%q is not among the %s (%swithout a name, all are listed)", name, r.called(), hint)
	}
	return items, nil
}

func (r *resource[T]) write(w io.Writer, items []T, now time.Time) error {
	t := table.New(w, r.columns...)
	for i := range items {
		t.Add(r.row(&items[i], now)...)
	}
	return t.Flush()
}
