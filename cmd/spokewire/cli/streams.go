package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

func (a *app) newStreams() *cobra.Command {
	c := &cobra.Command{
		Use:   "streams",
		Short: "The streams that Spokewire needs on a NATS server",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newStreamsList(), a.newStreamsCreate())
	return c
}

// What is said of a stream.
const (
	streamCreated = "created"
	streamPresent = "present"
	streamDiffers = "differs"
	streamMissing = "missing"
	streamFailed  = "failed"
)

// streamState is what became of a stream.
type streamState struct {
	Stream string `json:"stream"`
	Status string `json:"status"`
	// Differences are those from the declaration, for instance "MaxAge is
	// 1h0m0s, want 24h0m0s".
	Differences []string `json:"differences,omitempty"`
	Error       string   `json:"error,omitempty"`
}

func (s *streamState) detail() string {
	if s.Error != "" {
		return s.Error
	}
	return strings.Join(s.Differences, "; ")
}

// streamStateOf reads it out of what was said when it was ensured.
func streamStateOf(name string, created bool, err error) streamState {
	s := streamState{Stream: name, Status: streamPresent}
	var differs *jetstream.StreamDiffers
	switch {
	case errors.As(err, &differs):
		s.Status, s.Differences = streamDiffers, differs.Differences
	case err != nil:
		s.Status, s.Error = streamFailed, err.Error()
	case created:
		s.Status = streamCreated
	}
	return s
}

// listedStream is a line of streams list.
type listedStream struct {
	streamState
	Replicas int    `json:"replicas,omitempty"`
	Messages uint64 `json:"messages"`
	Subjects uint64 `json:"subjects"`
	Bytes    int64  `json:"bytes"`
	MaxBytes int64  `json:"maxBytes,omitempty"`
}

func (a *app) newStreamsList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the streams, with what they hold and how their settings differ",
		Args:  cobra.NoArgs,
	}
	c.RunE = a.onStreams(func(ctx context.Context, c *cobra.Command, b *jetstream.Bus) error {
		var list []listedStream
		for _, s := range events.Streams() {
			listed, err := inspectStream(ctx, b, s)
			if err != nil {
				return err
			}
			list = append(list, listed)
		}
		return a.print(c.OutOrStdout(), list, func(w io.Writer) error { return writeStreams(w, list) })
	})
	a.addBus(c)
	a.addOutput(c)
	return c
}

func inspectStream(ctx context.Context, b *jetstream.Bus, s events.Stream) (listedStream, error) {
	i, err := b.Inspect(ctx, s)
	listed := listedStream{
		streamState: streamState{Stream: s.Name, Status: streamPresent, Differences: i.Differences},
		Replicas:    i.Replicas, Messages: i.Messages, Subjects: i.Subjects, Bytes: i.Bytes, MaxBytes: i.MaxBytes,
	}
	switch {
	case errors.Is(err, events.ErrNotFound):
		listed.Status = streamMissing
		return listed, nil
	case err != nil:
		return listed, streamTrouble(err)
	case len(i.Differences) > 0:
		listed.Status = streamDiffers
	}
	return listed, nil
}

func writeStreams(w io.Writer, list []listedStream) error {
	t := table.New(w, "STREAM", "STATUS", "REPLICAS", "MESSAGES", "SUBJECTS", "SIZE", "LIMIT", "DETAIL")
	for _, s := range list {
		if s.Status == streamMissing {
			t.Add(s.Stream, s.Status, "", "", "", "", "", "spokewire streams create creates it")
			continue
		}
		t.Add(s.Stream, s.Status, strconv.Itoa(s.Replicas), strconv.FormatUint(s.Messages, 10), strconv.FormatUint(s.Subjects, 10),
			table.Size(s.Bytes), limit(s.MaxBytes), s.detail())
	}
	return t.Flush()
}

func limit(bytes int64) string {
	if bytes == 0 {
		return "none"
	}
	return table.Size(bytes)
}

const streamsCreateLong = `Create the streams that Spokewire needs where they are missing, on a NATS server
of your own: once, before its services are started, and again after an upgrade.
It says of each stream whether it was created, was present, or differs, with
each setting that does, and never alters or deletes one.

It needs the rights of the user admin (of deploy/nats/nats.conf: give
--nats-inbox-prefix _INBOX_admin too). With --mirrors, it creates instead the
copies that readers from outside read, in their account, once the streams are
there: as the user read-admin, with --nats-inbox-prefix _INBOX_read-admin.`

func (a *app) newStreamsCreate() *cobra.Command {
	replicas, mirrors := 0, false
	c := &cobra.Command{
		Use:   "create",
		Short: "Create the streams that are missing",
		Long:  streamsCreateLong,
		Example: `  spokewire streams create --replicas 3
  spokewire streams create --mirrors`,
		Args: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("replicas") && (replicas < 1 || replicas > 5) {
				return fmt.Errorf("--replicas is %d, want 1 to 5", replicas)
			}
			a.bus.Replicas = replicas
			return cobra.NoArgs(c, args)
		},
	}
	c.RunE = a.onStreams(func(ctx context.Context, c *cobra.Command, b *jetstream.Bus) error {
		states, err := ensure(ctx, b, mirrors)
		if err != nil {
			return err
		}
		if err := a.print(c.OutOrStdout(), states, func(w io.Writer) error { return writeStates(w, states) }); err != nil {
			return err
		}
		return allThere(states)
	})
	c.Flags().IntVar(&replicas, "replicas", 0, "how many servers hold each stream (default 1; where it is not given, streams that are there may have any number)")
	c.Flags().Lookup("replicas").DefValue = "0"
	c.Flags().BoolVar(&mirrors, "mirrors", false, "create the copies for readers from outside instead, in their account")
	a.addBus(c)
	a.addOutput(c)
	return c
}

// ensure sees to all streams, or all mirrors. What stands in the way of all
// is an error.
func ensure(ctx context.Context, b *jetstream.Bus, mirrors bool) ([]streamState, error) {
	var states []streamState
	add := func(name string, created bool, err error) error {
		states = append(states, streamStateOf(name, created, err))
		return streamTrouble(err)
	}
	if mirrors {
		for _, m := range access.Mirrors() {
			created, err := b.EnsureMirror(ctx, m)
			if err := add(m.Stream.Name, created, err); err != nil {
				return nil, err
			}
		}
		return states, nil
	}
	for _, s := range events.Streams() {
		created, err := b.EnsureStream(ctx, s)
		if err := add(s.Name, created, err); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// streamTrouble is nil for an error about one stream alone; of another, it
// says what to do.
func streamTrouble(err error) error {
	switch {
	case errors.Is(err, events.ErrDenied):
		return fmt.Errorf("%w: creating streams takes the credentials of the user admin, and --nats-inbox-prefix _INBOX_admin (see deploy/nats/README.md); looking at them, the operator's", err)
	case errors.Is(err, jetstream.ErrNoJetStream):
		return fmt.Errorf("%w: start the server with JetStream (nats-server -js), and enable it for this user's account", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: may this user subscribe to its inboxes? The admins' have a prefix, such as --nats-inbox-prefix _INBOX_admin", err)
	case errors.Is(err, context.Canceled):
		return err
	}
	return nil
}

func writeStates(w io.Writer, states []streamState) error {
	t := table.New(w, "STREAM", "STATUS", "DETAIL")
	for _, s := range states {
		t.Add(s.Stream, s.Status, s.detail())
	}
	return t.Flush()
}

// allThere is an error unless every stream is there as it must be.
func allThere(states []streamState) error {
	var differ, failed []string
	for _, s := range states {
		switch s.Status {
		case streamDiffers:
			differ = append(differ, s.Stream)
		case streamFailed:
			failed = append(failed, s.Stream)
		}
	}
	switch {
	case len(failed) > 0:
		return fmt.Errorf("not created: %s, see above", strings.Join(failed, ", "))
	case len(differ) > 0:
		return fmt.Errorf("with other settings, and left as they are: %s. nats stream edit NAME alters one", strings.Join(differ, ", "))
	}
	return nil
}

// onStreams makes the RunE of a command that looks after streams.
func (a *app) onStreams(run func(ctx context.Context, c *cobra.Command, b *jetstream.Bus) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		ctx, cancel := context.WithTimeout(c.Context(), a.timeout)
		defer cancel()
		return a.withBus(ctx, func(ctx context.Context, b *jetstream.Bus) error {
			err := run(ctx, c, b)
			if errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("not done within --timeout %s: %w", a.timeout, err)
			}
			return err
		})
	}
}
