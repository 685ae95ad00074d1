package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// finding is one check of doctor.
type finding struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	// Detail says what was found, and what to do where it is not good.
	Detail string `json:"detail"`
}

var errUnwell = errors.New("not all is well: see above")

func (a *app) newDoctor() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the bus and what flows on it",
		Long: `Check that the bus can be reached, that every stream is there, that clusters
have fresh metrics, scorers score, Placements are decided and applied, that the
hub is observed and hub-bridge answers decisions, and that no message was
refused within the last hour. Ends with status 1 if not.`,
		Args: cobra.NoArgs,
	}
	c.RunE = a.onBus(func(ctx context.Context, c *cobra.Command, b bus, _ []string) error {
		findings := examine(ctx, b, a.timeout/2)
		err := a.print(c.OutOrStdout(), findings, func(w io.Writer) error { return writeFindings(w, findings) })
		if err != nil {
			return err
		}
		for _, f := range findings {
			if !f.OK {
				return errUnwell
			}
		}
		return nil
	})
	a.addBus(c)
	a.addOutput(c)
	return c
}

func writeFindings(w io.Writer, findings []finding) error {
	t := table.New(w, "CHECK", "OK", "DETAIL")
	for _, f := range findings {
		t.Add(f.Check, yesNo(f.OK), f.Detail)
	}
	return t.Flush()
}

// examine reads every stream within limit, and then looks at all that was
// read. It draws no conclusions from a part of the streams.
func examine(ctx context.Context, b bus, limit time.Duration) []finding {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	streams := events.Streams()
	readings := make([]reading, len(streams))
	var group sync.WaitGroup
	for i, s := range streams {
		group.Go(func() { readings[i] = readStream(ctx, b, s.Name) })
	}
	group.Wait()

	state, whole := inventory.New(), true
	var findings []finding
	for i, r := range readings {
		findings = append(findings, r.finding(streams[i].Name))
		whole = whole && r.err == nil
		for _, u := range r.updates {
			state.Take(u)
		}
	}
	if !whole {
		return findings
	}
	now, placements := state.Now(), inventory.Placements(state)
	return append(findings,
		checkClusters(inventory.Clusters(state), now),
		checkScorers(inventory.Scorers(state, now)),
		checkPlacements(placements),
		checkHub(inventory.HubObjects(state), len(placements)),
		checkAnswered(placements, now),
		checkDead(undropped(state, ""), now),
	)
}

// reading is the current state of one stream.
type reading struct {
	updates []events.Update
	err     error
}

func readStream(ctx context.Context, b bus, stream string) reading {
	var r reading
	r.err = b.Watch(ctx, events.Watch{Stream: stream}, func(u events.Update) error {
		r.updates = append(r.updates, u)
		if u.Kind == events.Synced {
			return errStop
		}
		return nil
	})
	if errors.Is(r.err, errStop) {
		r.err = nil
	}
	return r
}

func (r *reading) finding(stream string) finding {
	f := finding{Check: "stream " + stream, OK: r.err == nil}
	if r.err != nil {
		f.Detail = "cannot be read: is it there (the services create it), and may this user read it?"
		return f
	}
	subjects := 0
	for _, u := range r.updates {
		if u.Kind == events.Stored {
			subjects++
		}
	}
	f.Detail = fmt.Sprintf("%d subjects", subjects)
	return f
}

// staleMetrics is the age from which a cluster's newest metric is old.
const staleMetrics = 5 * time.Minute

func checkClusters(clusters []inventory.Cluster, now time.Time) finding {
	var stale []string
	for _, c := range clusters {
		if now.Sub(c.LastMetric()) > staleMetrics {
			stale = append(stale, c.Name)
		}
	}
	return verdictOn("clusters", len(clusters), stale, "without metrics of the last "+span(staleMetrics)+", is their collector running")
}

func checkScorers(scorers []inventory.Scorer) finding {
	var failing []string
	for _, s := range scorers {
		if s.Failing > 0 || s.Scored == 0 {
			failing = append(failing, s.Name)
		}
	}
	return verdictOn("scorers", len(scorers), failing, "without a score for every cluster, see spokewire get scores")
}

func checkPlacements(placements []inventory.Placement) finding {
	var bad []string
	for _, p := range placements {
		if p.Decision == nil || p.Receipt != nil && p.Receipt.Outcome == schemas.OutcomeRefused {
			bad = append(bad, p.Namespace+"/"+p.Name)
		}
	}
	return verdictOn("placements", len(placements), bad, "undecided or refused by the hub, see spokewire explain placement")
}

// checkHub finds a bridge that has never seen its hub.
func checkHub(objects, placements int) finding {
	f := finding{Check: "hub observed", OK: objects > 0 || placements == 0, Detail: fmt.Sprintf("%d objects", objects)}
	if !f.OK {
		f.Detail = fmt.Sprintf("nothing of the hub is known, but %d Placements are: does hub-bridge run, and does it reach the hub? Its log says (spokewire up: DATA/logs/hub-bridge.log)", placements)
	}
	return f
}

// slowAnswer is the age from which a decision without a receipt is overdue.
const slowAnswer = 5 * time.Second

func checkAnswered(placements []inventory.Placement, now time.Time) finding {
	decided := 0
	var overdue []string
	for _, p := range placements {
		if p.Mode != schemas.ModeDirect || p.Decision == nil {
			continue
		}
		decided++
		if p.Waiting && now.Sub(p.Decision.ReceivedAt) > slowAnswer {
			overdue = append(overdue, p.Namespace+"/"+p.Name)
		}
	}
	return verdictOn("decisions answered", decided, overdue, "without a receipt for more than "+span(slowAnswer)+", so hub-bridge or the hub does not answer, see hub-bridge's log (spokewire up: DATA/logs/hub-bridge.log)")
}

func checkDead(all []inventory.Letter, now time.Time) finding {
	var recent []string
	for _, l := range all {
		if now.Sub(l.ReceivedAt) < time.Hour {
			recent = append(recent, l.ID)
		}
	}
	return verdictOn("dead letters", len(all), recent, "from the last hour, see spokewire dead show")
}

// verdictOn sums up a check of total things, of which some are bad.
func verdictOn(check string, total int, bad []string, why string) finding {
	f := finding{Check: check, OK: len(bad) == 0, Detail: fmt.Sprintf("%d", total)}
	if !f.OK {
		f.Detail = fmt.Sprintf("%d of %d %s: %s", len(bad), total, why, list(bad))
	}
	return f
}
