// Package checkup judges what was read of a bus and its hub: what is not
// well, and what to do. It reads nothing itself.
package checkup

import (
	"fmt"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
)

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	// Detail says what was found, and what to do where it is not good.
	Detail string `json:"detail"`
}

// Snapshot is what was read.
type Snapshot struct {
	Streams []Stream
	// State is what all streams hold, Metrics and Decisions the last of those
	// streams, which are looked at for two writers.
	State              *inventory.State
	Metrics, Decisions History
	// Clock compares this machine's clock with the server's.
	Clock Clock
	// MaxPayload is the largest message that the server takes, in bytes.
	MaxPayload int64
	// Hub is nil where no hub was looked at.
	Hub *Hub
}

// Check returns all findings. It draws no conclusions from a part of the
// streams.
func Check(s Snapshot) []Finding {
	streams, whole := checkStreams(s.Streams)
	findings := append(streams, s.Clock.check())
	if s.Hub != nil {
		findings = append(findings, s.Hub.check(whole && inventory.HubObjects(s.State) > 0)...)
	}
	if !whole {
		return findings
	}
	return append(findings, checkState(s)...)
}

func checkState(s Snapshot) []Finding {
	now, clusters, placements := s.State.Now(), inventory.Clusters(s.State), inventory.Placements(s.State)
	return []Finding{
		checkClusters(clusters, now),
		checkSources(clusters, now),
		checkLate(clusters, now),
		checkBackfill(s.State, now),
		checkReaders(s.Streams),
		checkPublishers(s.Metrics),
		checkScorers(inventory.Scorers(s.State, now)),
		checkPlacements(placements),
		checkHub(inventory.HubObjects(s.State), len(placements)),
		checkAnswered(placements, now),
		checkSchedulers(s.State, s.Decisions, now),
		checkPayload(s.MaxPayload, clusters),
		checkDead(inventory.Letters(s.State), now),
	}
}

// verdictOn sums up a check of total things, of which some are bad.
func verdictOn(check string, total int, bad []string, why string) Finding {
	f := Finding{Check: check, OK: len(bad) == 0, Detail: fmt.Sprintf("%d", total)}
	if !f.OK {
		f.Detail = fmt.Sprintf("%d of %d (%s) %s", len(bad), total, some(bad), why)
	}
	return f
}

// maxNamed is how many of a list are named.
const maxNamed = 4

func some(items []string) string {
	if len(items) <= maxNamed {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:maxNamed], ", "), len(items)-maxNamed)
}

// span writes a duration for people: 5m, not 5m0s.
func span(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
