package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/manifest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const deleteLong = `Delete what was applied over the bus.

A Scorer's scores are withdrawn, from the hub too; a Placement is deleted from
the hub with its decisions, and delete waits until it is. What was created on
the hub is deleted there.`

func (a *app) newDelete() *cobra.Command {
	wait := true
	c := &cobra.Command{
		Use:   "delete KIND NAME",
		Short: "Delete what was applied over the bus",
		Long:  deleteLong,
		Example: `  spokewire delete scorer gpu
  spokewire delete placement default/train`,
		Args: cobra.ExactArgs(2),
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		kind, err := manifest.KindOf(args[0])
		if err != nil {
			return fmt.Errorf("kind %w", err)
		}
		namespace, name, err := kind.ParseName(args[1])
		if err != nil {
			return err
		}
		run := a.onBus(func(ctx context.Context, c *cobra.Command, b bus, _ []string) error {
			done, err := deleteObject(ctx, b, kind, namespace, name, wait)
			if err != nil {
				return err
			}
			return a.print(c.OutOrStdout(), done, done.write)
		})
		return run(c, nil)
	}
	c.Flags().BoolVar(&wait, "wait", wait, "wait until a Placement is gone from the hub")
	a.addBus(c)
	a.addOutput(c)
	return c
}

func deleteObject(ctx context.Context, b bus, kind manifest.Kind, namespace, name string, wait bool) (*requested, error) {
	object, subject := kind.Describe(namespace, name), kind.Subject(namespace, name)
	if err := refuseHubBorn(ctx, b, kind, namespace, name); err != nil {
		return nil, err
	}
	last, err := b.Last(ctx, events.StreamConfig, subject)
	switch {
	case errors.Is(err, events.ErrNotFound), err == nil && isTombstone(last):
		return nil, fmt.Errorf("%s was not applied over the bus: there is nothing to delete", object)
	case err != nil:
		return nil, err
	}
	tombstone := schemas.Deleted{Namespace: namespace, Name: name, Reason: "deleted by a user"}
	e, err := events.New(kind.DeletedType, events.ServiceSource(requester), &tombstone)
	if err != nil {
		return nil, err
	}
	r := request{object: object, subject: subject, event: e}
	r.options = []events.PublishOption{events.Tombstone(), events.ExpectLast(last.Sequence)}
	if wait && kind.Bridged {
		r.receipts = receiptsOf(namespace, name)
	}
	done, err := r.do(ctx, b)
	if errors.Is(err, events.ErrConflict) {
		return nil, fmt.Errorf("%s was applied anew at this moment: look, and delete it again: %w", object, err)
	}
	return done, err
}

// isTombstone is false for what cannot be read, so that it can be deleted.
func isTombstone(m events.Message) bool {
	e, err := events.Decode(m)
	return err == nil && schemas.IsDeleted(e.Type())
}
