package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/manifest"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const watchLong = `Show the last event of every subject, then follow.

With --since, every event from then on is shown first, not only the last ones.
With --count N, watch ends with status 0 after N events, and with an error if
--timeout ends it before. Without --count it follows until Ctrl-C or --timeout.
Only what matches --cluster or --placement is sent by the server.

With -o json, each line is one event: its stream, subject, sequence and
receivedAt, and the event itself as a structured CloudEvent.`

// watching is one call of watch.
type watching struct {
	app     *app
	timed   bool // --timeout was given
	view    view
	filter  filter
	since   time.Duration
	count   int
	seen    int
	columns *table.Table
	synced  bool
}

func (a *app) newWatch() *cobra.Command {
	w := &watching{app: a}
	var placement string
	c := &cobra.Command{
		Use:       "watch " + strings.Join(viewNames(), "|"),
		Short:     "Follow the events of a stream",
		Long:      watchLong,
		ValidArgs: viewNames(),
		Args:      cobra.ExactArgs(1),
		Example: `  spokewire watch decisions --placement default/train
  spokewire watch scores --cluster spoke-1 -o json --count 1 --timeout 30s`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if w.view, err = viewNamed(args[0]); err != nil {
				return err
			}
			if w.filter.namespace, w.filter.name, err = parsePlacement(placement); err != nil {
				return err
			}
			w.timed = c.Flags().Changed("timeout")
			return w.run(c)
		},
	}
	c.Flags().StringVar(&w.filter.cluster, "cluster", "", "only events of this cluster")
	c.Flags().StringVar(&placement, "placement", "", "only events of this Placement, NAMESPACE/NAME or NAME")
	c.Flags().DurationVar(&w.since, "since", 0, "start with every event of this last while, for instance 10m")
	c.Flags().IntVar(&w.count, "count", 0, "end after this many events (0: do not end)")
	a.addBus(c)
	c.Flags().Lookup("timeout").DefValue = "none"
	a.addOutput(c)
	return c
}

// parsePlacement reads --placement; an empty one is none.
func parsePlacement(text string) (namespace, name string, err error) {
	if text == "" {
		return "", "", nil
	}
	kind, err := manifest.KindOf(schemas.PlacementKind)
	if err != nil {
		return "", "", err
	}
	return kind.ParseName(text)
}

func (w *watching) run(c *cobra.Command) error {
	subjects, err := w.view.subjects(w.filter)
	switch {
	case err != nil:
		return err
	case w.count < 0:
		return fmt.Errorf("--count is %d, want 0 or more", w.count)
	case w.since < 0:
		return fmt.Errorf("--since is %s, want 0 or more", w.since)
	}
	watch := events.Watch{Stream: w.view.stream, Subjects: subjects}
	if w.since > 0 {
		watch.Since = time.Now().Add(-w.since)
	}
	w.columns = table.New(c.OutOrStdout(), w.view.columns...)
	ctx := c.Context()
	if w.timed {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.app.timeout)
		defer cancel()
	}
	err = w.app.withBus(ctx, func(ctx context.Context, b *jetstream.Bus) error {
		err := b.Watch(ctx, watch, func(u events.Update) error { return w.take(c.OutOrStdout(), u) })
		return w.ended(ctx, err)
	})
	return errors.Join(err, w.flush())
}

// flush writes the rows that wait.
func (w *watching) flush() error {
	if w.app.output != outputTable {
		return nil
	}
	return w.columns.Flush()
}

// ended says whether what ended the watch is what the user asked for.
func (w *watching) ended(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errStop):
		return nil
	case ctx.Err() == nil, err == nil:
		return err
	case w.count == 0:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &timeUp{fmt.Sprintf("saw %d of %d events within %s", w.seen, w.count, w.app.timeout)}
	}
	return fmt.Errorf("interrupted after %d of %d events", w.seen, w.count)
}

// take shows one update. The rows of the state at the start are kept until
// all of them are there, so that they are aligned.
func (w *watching) take(out io.Writer, u events.Update) error {
	switch u.Kind {
	case events.Stored:
		if err := w.show(out, u.Message); err != nil {
			return err
		}
		if w.seen++; w.seen == w.count {
			return errStop
		}
	case events.Synced:
		w.synced = true
	case events.Gone, events.Behind:
	}
	if !w.synced {
		return nil
	}
	return w.flush()
}

func (w *watching) show(out io.Writer, m events.Message) error {
	r, err := events.Read(m)
	row := []string{clock(m.ReceivedAt)}
	if err != nil {
		row = append(row, m.Subject, "cannot be read: "+err.Error())
	} else {
		row = append(row, w.view.row(r)...)
	}
	return w.app.printLine(out, newRecord(m, r, err), func(io.Writer) error {
		w.columns.Add(row...)
		return nil
	})
}
