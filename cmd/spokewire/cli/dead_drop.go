package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// dropping is a dead drop.
type dropping struct {
	all     bool
	service string
}

func (a *app) newDeadDrop() *cobra.Command {
	var d dropping
	c := &cobra.Command{
		Use:   "drop ID... | --all | --service SERVICE",
		Short: "Say of dead letters that they are dealt with",
		Long: `Say of dead letters that they are dealt with: dead list and doctor count them
no longer. They stay where they are until they expire, dead list --all shows
them, and dead show and dead retry take them as before.`,
		Example: `  spokewire dead drop scorer/SW_METRICS-17 scorer/SW_METRICS-18
  spokewire dead drop --service scorer`,
		Args: func(_ *cobra.Command, ids []string) error { return d.validate(ids) },
	}
	c.RunE = a.onBus(func(ctx context.Context, c *cobra.Command, b bus, ids []string) error {
		letters, err := d.letters(ctx, b, ids)
		if err != nil {
			return err
		}
		if err := drop(ctx, b, letters); err != nil {
			return err
		}
		return a.print(c.OutOrStdout(), letterIDs(letters), func(w io.Writer) error { return writeDropped(w, letters) })
	})
	c.Flags().BoolVar(&d.all, "all", false, "all that dead list shows")
	c.Flags().StringVar(&d.service, "service", "", "all of one service")
	a.addBus(c)
	a.addOutput(c)
	return c
}

func (d *dropping) validate(ids []string) error {
	ways := 0
	for _, given := range []bool{len(ids) > 0, d.all, d.service != ""} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return errors.New("which dead letters? Give either their ids, as spokewire dead list shows them, or --all, or --service")
	}
	for _, id := range ids {
		if _, err := parseLetter(id); err != nil {
			return err
		}
	}
	return nil
}

// letters reads those that are meant. An id that is not there is an error,
// and then none is dropped; one that was dropped before is left out.
func (d *dropping) letters(ctx context.Context, b bus, ids []string) ([]inventory.Letter, error) {
	state, err := read(ctx, b, events.Watch{Stream: events.StreamDead})
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return undropped(state, d.service), nil
	}
	known := letterIDs(inventory.Letters(state))
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return nil, fmt.Errorf("no dead letter %s: spokewire dead list shows what there is", id)
		}
	}
	return slices.DeleteFunc(undropped(state, ""), func(l inventory.Letter) bool { return !slices.Contains(ids, l.ID) }), nil
}

// drop publishes that letters are dealt with.
func drop(ctx context.Context, b bus, letters []inventory.Letter) error {
	for part := range slices.Chunk(letters, schemas.MaxDropped) {
		dropped := schemas.DeadDropped{}
		for _, l := range part {
			dropped.Letters = append(dropped.Letters, schemas.DroppedLetter{Service: l.Service, Stream: l.Stream, Sequence: l.Sequence})
		}
		e, err := events.New(schemas.TypeDeadLetterDropped, events.ServiceSource(events.DeadOperator), &dropped)
		if err != nil {
			return err
		}
		if _, err := b.Publish(ctx, events.DropSubject(e.ID()), e); err != nil {
			return err
		}
	}
	return nil
}

func letterIDs(letters []inventory.Letter) []string {
	ids := make([]string, len(letters))
	for i := range letters {
		ids[i] = letters[i].ID
	}
	return ids
}

func writeDropped(w io.Writer, letters []inventory.Letter) error {
	if len(letters) == 0 {
		_, err := fmt.Fprintln(w, "nothing to drop")
		return err
	}
	_, err := fmt.Fprintf(w, "dropped %s\n", strings.Join(letterIDs(letters), "\ndropped "))
	return err
}
