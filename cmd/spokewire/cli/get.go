package cli

import (
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
	columns    []string
	row        func(item *T, now time.Time) []string
}

func (a *app) newGet() *cobra.Command {
	c := &cobra.Command{
		Use:   "get",
		Short: "List clusters, scorers, scores or Placements as they are now",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newResource(a, clustersResource()),
		newResource(a, scorersResource()),
		a.newGetScores(),
		newResource(a, placementsResource()),
	)
	return c
}

func newResource[T any](a *app, r resource[T]) *cobra.Command {
	if r.noun == "" {
		r.noun = r.use
	}
	c := &cobra.Command{
		Use:   r.use + " [NAME]",
		Short: r.short,
		Args:  cobra.MaximumNArgs(1),
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
	for _, bad := range state.Unreadable() {
		c.PrintErrln("left out, cannot be read:", bad)
	}
	items, err := r.named(state, name)
	if err != nil {
		return err
	}
	if len(items) == 0 && a.output == outputTable {
		c.PrintErrln("no", r.noun)
		return nil
	}
	return a.print(c.OutOrStdout(), items, func(w io.Writer) error { return r.write(w, items, state.Now()) })
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
		return nil, fmt.Errorf("%q is not among the %s (without a name, all are listed)", name, r.noun)
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
