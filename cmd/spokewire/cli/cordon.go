package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const cordonLong = `Let direct Placements select a cluster no more. Those that have selected it keep
it, as long as it stays among the best; spokewire drain moves them away, and
spokewire uncordon ends both. A cordon takes the place of a drain.

Nothing is written to the hub: the services read it from the bus. Placements that
OCM decides (native) know nothing of it; for those, taint the ManagedCluster.`

// cordoning is the flags of cordon and drain.
type cordoning struct {
	reason, by, until string
	validFor          time.Duration
}

func (a *app) newCordon() *cobra.Command {
	var flags cordoning
	c := &cobra.Command{
		Use: "cordon CLUSTER", Short: "Let direct Placements select a cluster no more", Long: cordonLong, Args: cobra.ExactArgs(1),
		Example: "  spokewire cordon spoke-2 --reason 'kernel upgrade' --for 2h",
	}
	c.RunE = a.onBus(func(ctx context.Context, c *cobra.Command, b bus, args []string) error {
		done, _, err := flags.ask(ctx, c, b, args[0], schemas.CordonSpec{State: schemas.CordonCordoned})
		if err != nil {
			return err
		}
		return a.print(c.OutOrStdout(), done, done.write)
	})
	flags.add(c)
	a.addBus(c)
	a.addOutput(c)
	return c
}

func (a *app) newUncordon() *cobra.Command {
	var flags cordoning
	c := &cobra.Command{
		Use: "uncordon CLUSTER", Short: "Let direct Placements select a cluster again", Args: cobra.ExactArgs(1),
		Long: `End what cordon or drain asked for. Placements take the cluster back as its scores
say, within their flap control.`,
		Example: "  spokewire uncordon spoke-2",
	}
	c.RunE = a.onBus(func(ctx context.Context, c *cobra.Command, b bus, args []string) error {
		done, err := uncordon(ctx, b, args[0], schemas.CordonSpec{State: schemas.CordonLifted, By: flags.by, Reason: flags.reason})
		if err != nil {
			return err
		}
		return a.print(c.OutOrStdout(), done, done.write)
	})
	flags.addNotes(c)
	a.addBus(c)
	a.addOutput(c)
	return c
}

func (f *cordoning) addNotes(c *cobra.Command) {
	c.Flags().StringVar(&f.reason, "reason", "", "why, for those who read it")
	c.Flags().StringVar(&f.by, "by", myName(), "who asks")
}

func (f *cordoning) add(c *cobra.Command) {
	f.addNotes(c)
	c.Flags().DurationVar(&f.validFor, "for", 0, "how long, from now on (0: until it is ended)")
	c.Flags().StringVar(&f.until, "until", "", "until when, for instance 2026-12-01T06:00:00Z")
	c.MarkFlagsMutuallyExclusive("for", "until")
}

// myName is what the machine calls who runs this.
func myName() string {
	me, err := user.Current()
	if err != nil {
		return ""
	}
	return me.Username
}

// cordonDone is what was asked for, and where it stands.
type cordonDone struct {
	Cluster  string             `json:"cluster"`
	Cordon   schemas.CordonSpec `json:"cordon"`
	Stream   string             `json:"stream,omitempty"`
	Sequence uint64             `json:"sequence,omitempty"`
	// Was is the state before, empty for none, and unread where what was asked
	// for cannot be read.
	Was string `json:"was,omitempty"`
}

func (d *cordonDone) write(w io.Writer) error {
	what := d.Cordon.State
	switch {
	case d.Sequence == 0:
		_, err := fmt.Fprintf(w, "%s: was not cordoned\n", d.Cluster)
		return err
	case what == schemas.CordonLifted && d.Was != cordonUnread:
		what = "no longer " + d.Was
	case d.Cordon.Until != nil:
		what += " until " + d.Cordon.Until.Format(time.RFC3339)
	}
	_, err := fmt.Fprintf(w, "%s: %s (%d in %s)\n", d.Cluster, what, d.Sequence, d.Stream)
	return err
}

// ask publishes a cordon of a cluster that the hub has, and warns of
// Placements that it is not for.
func (f *cordoning) ask(ctx context.Context, c *cobra.Command, b bus, cluster string, spec schemas.CordonSpec) (*cordonDone, *inventory.State, error) {
	watches, err := cordonWatches(cluster)
	if err != nil {
		return nil, nil, err
	}
	state, err := read(ctx, b, watches...)
	if err != nil {
		return nil, nil, err
	}
	if len(inventory.Entries[*schemas.Cluster](state, events.FamilyHub)) == 0 {
		return nil, nil, fmt.Errorf("%w; a Cordon for one to come can be applied (spokewire apply --help)", noSuchCluster(cluster))
	}
	spec.By, spec.Reason = f.by, f.reason
	if err := f.end(state.Now(), &spec); err != nil {
		return nil, nil, err
	}
	done, err := putCordon(ctx, b, cluster, spec)
	if err != nil {
		return nil, nil, err
	}
	if natives := nativePlacements(state); len(natives) > 0 {
		c.PrintErrf("OCM decides %s: for these, taint ManagedCluster %s (kubectl)\n", list(natives), cluster)
	}
	return done, state, nil
}

func noSuchCluster(cluster string) error {
	return fmt.Errorf("%q: the hub has no such cluster: spokewire get clusters lists them", cluster)
}

// end sets until when it holds, by the server's time.
func (f *cordoning) end(now time.Time, spec *schemas.CordonSpec) error {
	until := now.Add(f.validFor).Truncate(time.Second)
	switch {
	case f.validFor < 0:
		return fmt.Errorf("--for is %s, want more than 0", f.validFor)
	case f.until != "":
		var err error
		if until, err = time.Parse(time.RFC3339, f.until); err != nil {
			return fmt.Errorf("--until is %q, want a time such as %s", f.until, now.UTC().Add(time.Hour).Format(time.RFC3339))
		}
		if !until.After(now) {
			return fmt.Errorf("--until is %s, which is over: the server's time is %s", f.until, now.UTC().Format(time.RFC3339))
		}
	case f.validFor == 0:
		return nil
	}
	until = until.UTC()
	spec.Until = &until
	return nil
}

// cordonWatches are for the cluster, and for what has selected it.
func cordonWatches(cluster string) ([]events.Watch, error) {
	watches, err := placementWatches("")
	if err != nil {
		return nil, err
	}
	for i := range watches {
		switch w := &watches[i]; w.Stream {
		case events.StreamHub:
			w.Subjects = append(w.Subjects, events.HubSubject(events.KindCluster, "", cluster))
		case events.StreamConfig:
			w.Subjects = append(w.Subjects, events.ConfigSubject(events.KindCordon, "", cluster))
		}
	}
	return watches, nil
}

func nativePlacements(s *inventory.State) []string {
	var names []string
	for _, p := range inventory.Placements(s) {
		if p.Mode == schemas.ModeNative && p.OnHub {
			names = append(names, p.Namespace+"/"+p.Name)
		}
	}
	return names
}

// putCordon publishes a cordon in the place of the one that was there when it
// looked.
func putCordon(ctx context.Context, b bus, cluster string, spec schemas.CordonSpec) (*cordonDone, error) {
	subject := events.ConfigSubject(events.KindCordon, "", cluster)
	last, err := b.Last(ctx, events.StreamConfig, subject)
	if err != nil && !errors.Is(err, events.ErrNotFound) {
		return nil, err
	}
	done := &cordonDone{Cluster: cluster, Cordon: spec}
	if err == nil {
		done.Was = stateOf(last)
	}
	e, err := events.New(schemas.TypeConfigCordon, events.ServiceSource(requester), &schemas.Cordon{
		APIVersion: schemas.CordonAPIVersion, Kind: schemas.CordonKind, Metadata: schemas.Metadata{Name: cluster}, Spec: spec,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cluster, err)
	}
	ack, err := b.Publish(ctx, subject, e, events.ExpectLast(last.Sequence))
	switch {
	case errors.Is(err, events.ErrConflict):
		return nil, fmt.Errorf("%s: somebody else asked for something at this moment: look (spokewire get clusters %s), and try again: %w", cluster, cluster, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", cluster, err)
	}
	done.Stream, done.Sequence = ack.Stream, ack.Sequence
	return done, nil
}

// cordonUnread is the state of an event that cannot be read: the one before it
// is in force, whatever that is.
const cordonUnread = "unread"

// stateOf is the state that an event of SW_CONFIG asks for, empty for none.
func stateOf(m events.Message) string {
	r, err := events.Read(m)
	if err != nil {
		return cordonUnread
	}
	p, isCordon := r.Payload.(*schemas.Cordon)
	if !isCordon || p.Spec.State == schemas.CordonLifted {
		return ""
	}
	return p.Spec.State
}

// uncordon lifts a cordon, if there is one.
func uncordon(ctx context.Context, b bus, cluster string, spec schemas.CordonSpec) (*cordonDone, error) {
	last, err := b.Last(ctx, events.StreamConfig, events.ConfigSubject(events.KindCordon, "", cluster))
	switch {
	case errors.Is(err, events.ErrNotFound):
		if _, err := b.Last(ctx, events.StreamHub, events.HubSubject(events.KindCluster, "", cluster)); errors.Is(err, events.ErrNotFound) {
			return nil, noSuchCluster(cluster)
		}
		fallthrough
	case err == nil && stateOf(last) == "":
		return &cordonDone{Cluster: cluster, Cordon: schemas.CordonSpec{State: schemas.CordonLifted}}, nil
	case err != nil:
		return nil, err
	}
	return putCordon(ctx, b, cluster, spec)
}

// shut says for a table what is asked for of a cluster.
func shut(c *inventory.Cordon, now time.Time) string {
	if c == nil {
		return "-"
	}
	parts := []string{c.State}
	if c.By != "" {
		parts = append(parts, "by "+c.By)
	}
	if c.Until != nil {
		parts = append(parts, "for "+span(c.Until.Sub(now)))
	}
	if c.Reason != "" {
		parts = append(parts, "("+c.Reason+")")
	}
	return shorten(strings.Join(parts, " "))
}
