package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func (a *app) newDead() *cobra.Command {
	c := &cobra.Command{
		Use:   "dead",
		Short: "Messages that no service could take",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newDeadList(), a.newDeadShow(), a.newDeadRetry(), a.newDeadDrop())
	return c
}

func (a *app) newDeadList() *cobra.Command {
	all := false
	c := newResource(a, deadResource(&all))
	c.Flags().BoolVar(&all, "all", false, "with those that were dropped")
	return c
}

// deadResource lists the letters that nobody dropped, or all.
func deadResource(all *bool) resource[inventory.Letter] {
	return resource[inventory.Letter]{
		use:     "list",
		short:   "List dead letters",
		noun:    "dead letters",
		watches: func(string) ([]events.Watch, error) { return []events.Watch{{Stream: events.StreamDead}}, nil },
		list: func(s *inventory.State) []inventory.Letter {
			if *all {
				return inventory.Letters(s)
			}
			return undropped(s, "")
		},
		is:      func(l *inventory.Letter, id string) bool { return l.ID == id },
		columns: []string{"ID", "AGE", "REASON", "FIELD", "SUBJECT", "SIZE", "MESSAGE"},
		row:     letterRow,
	}
}

// undropped lists the letters of a service that count, of all services if it
// is empty.
func undropped(s *inventory.State, service string) []inventory.Letter {
	return slices.DeleteFunc(inventory.Letters(s), func(l inventory.Letter) bool {
		return l.Dropped != nil || service != "" && l.Service != service
	})
}

func (a *app) newDeadShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show a dead letter with its headers and body",
		Args:  checked(letterID),
	}
	c.RunE = a.onBus(func(ctx context.Context, c *cobra.Command, b bus, args []string) error {
		l, _, err := readLetter(ctx, b, args[0])
		if err != nil {
			return err
		}
		return a.print(c.OutOrStdout(), l, func(w io.Writer) error { return writeLetter(w, l) })
	})
	a.addBus(c)
	a.addOutput(c)
	return c
}

// parseLetter reads an id SERVICE/STREAM-SEQUENCE.
func parseLetter(id string) (schemas.DroppedLetter, error) {
	service, position, ok := strings.Cut(id, "/")
	dash := strings.LastIndexByte(position, '-')
	if !ok || service == "" || dash < 1 {
		return schemas.DroppedLetter{}, fmt.Errorf("%q is not an id, want SERVICE/STREAM-SEQUENCE as spokewire dead list shows it", id)
	}
	sequence, err := strconv.ParseUint(position[dash+1:], 10, 64)
	if err != nil {
		return schemas.DroppedLetter{}, fmt.Errorf("%q is not an id: %q is not a sequence", id, position[dash+1:])
	}
	return schemas.DroppedLetter{Service: service, Stream: position[:dash], Sequence: sequence}, nil
}

// readLetter reads the dead letter of an id SERVICE/STREAM-SEQUENCE, and the
// server's time.
func readLetter(ctx context.Context, b bus, id string) (*inventory.Letter, time.Time, error) {
	name, err := parseLetter(id)
	if err != nil {
		return nil, time.Time{}, err
	}
	subject := events.DeadSubject(name.Service, name.Stream, name.Sequence)
	state, err := read(ctx, b, events.Watch{Stream: events.StreamDead, Subjects: []string{subject}})
	if err != nil {
		return nil, time.Time{}, err
	}
	if bad := state.Unreadable(); len(bad) > 0 {
		return nil, time.Time{}, fmt.Errorf("the dead letter %s cannot be read itself: %w", id, bad[0])
	}
	letters := inventory.Letters(state)
	if len(letters) == 0 {
		return nil, time.Time{}, fmt.Errorf("no dead letter %s: spokewire dead list shows what there is", id)
	}
	return &letters[0], state.Now(), nil
}

func writeLetter(w io.Writer, l *inventory.Letter) error {
	reason := l.Reason
	if l.Field != "" {
		reason += " (" + l.Field + ")"
	}
	facts := [][2]string{
		{"ID", l.ID},
		{"Reason", reason},
		{"Message", l.Message},
		{"Service", l.Service},
		{"Stood at", fmt.Sprintf("%d in %s, %s", l.Sequence, l.Stream, l.Subject)},
		{"Received", l.ReceivedAt.Local().Format("2006-01-02 15:04:05.000 MST")},
		{"Size", fmt.Sprintf("%d bytes, %d of them kept, SHA-256 %s", l.Size, len(l.Body), l.SHA256)},
	}
	for _, key := range slices.Sorted(maps.Keys(l.Headers)) {
		facts = append(facts, [2]string{"Header", key + ": " + l.Headers[key]})
	}
	for _, fact := range facts {
		if _, err := fmt.Fprintf(w, "%-10s%s\n", fact[0]+":", table.OneLine(fact[1])); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", body(l.Body))
	return err
}

// body is text as it is, but for what steers terminals, and anything else in
// Go's quotes.
func body(data []byte) string {
	if !utf8.Valid(data) {
		return strconv.Quote(string(data))
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		lines[i] = table.OneLine(line)
	}
	return strings.Join(lines, "\n")
}
