package checkup

import (
	"fmt"
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// silent is the age from which a newest metric is old.
const silent = 5 * time.Minute

func checkClusters(clusters []inventory.Cluster, now time.Time) Finding {
	var bad []string
	for _, c := range clusters {
		if now.Sub(c.LastMetric()) > silent {
			bad = append(bad, c.Name)
		}
	}
	return verdictOn("clusters", len(clusters), bad, "without metrics of the last "+span(silent)+
		": does their collector run, and does it reach NATS? Its log and its /readyz say")
}

// checkSources finds single sources that are silent where their cluster is
// not. A source whose last word was that it has no series is at its end.
func checkSources(clusters []inventory.Cluster, now time.Time) Finding {
	total := 0
	var bad []string
	for _, c := range clusters {
		for _, s := range c.Sources {
			total++
			if s.Samples > 0 && now.Sub(s.ObservedAt) > silent && now.Sub(c.LastMetric()) <= silent {
				bad = append(bad, c.Name+"/"+s.Name)
			}
		}
	}
	return verdictOn("sources", total, bad, "silent for more than "+span(silent)+
		" while others of their cluster are not: does the collector reach what it scrapes? Its log says. Where a source is no more, say so: spokewire publish --cluster C --source S --empty")
}

// late is how long the newest snapshot of a source may wait on its way.
const late = time.Minute

func checkLate(clusters []inventory.Cluster, now time.Time) Finding {
	total := 0
	var bad []string
	for _, c := range clusters {
		for _, s := range c.Sources {
			total++
			if waited := s.ReceivedAt.Sub(s.ObservedAt); waited > late && now.Sub(s.ReceivedAt) <= silent {
				bad = append(bad, fmt.Sprintf("%s/%s (%s)", c.Name, s.Name, span(waited)))
			}
		}
	}
	return verdictOn("delay", total, bad, "waited for more than "+span(late)+
		" on their spoke, so scores rest on old samples: is its link to NATS down at times, or too slow for what it sends?")
}

// longBacklog is how far behind a spoke's history may be while it is sent.
const longBacklog = time.Hour

// checkBackfill finds outboxes with much to send yet: what they send is from
// long ago.
func checkBackfill(s *inventory.State, now time.Time) Finding {
	total := 0
	var bad []string
	for _, e := range inventory.Entries[*schemas.Metrics](s, events.FamilyBackfill) {
		if now.Sub(e.Message.ReceivedAt) > silent {
			continue // it is sent no longer
		}
		total++
		if behind := e.Message.ReceivedAt.Sub(e.ObservedAt); behind > longBacklog {
			bad = append(bad, fmt.Sprintf("%s/%s (%s)", e.Subject.Cluster, e.Subject.Name, span(behind)))
		}
	}
	return verdictOn("backlog", total, bad, "have more than "+span(longBacklog)+
		" of history in their outbox. After a long outage that is so for a while, and does no harm; if it grows, the collector's backfill rate or its link is too slow")
}

func checkScorers(scorers []inventory.Scorer) Finding {
	var failing []string
	for _, s := range scorers {
		switch {
		case s.Dynamic != nil && s.Dynamic.Reason != "":
			failing = append(failing, s.Name+" ("+s.Dynamic.Reason+")")
		case s.Failing > 0 || s.Scored == 0:
			failing = append(failing, s.Name)
		}
	}
	return verdictOn("scorers", len(scorers), failing, "without a score for every cluster: see spokewire get scorers and get scores")
}

func checkPlacements(placements []inventory.Placement) Finding {
	var bad []string
	for _, p := range placements {
		if p.Decision == nil || p.Receipt != nil && p.Receipt.Outcome == schemas.OutcomeRefused {
			bad = append(bad, p.Namespace+"/"+p.Name)
		}
	}
	return verdictOn("placements", len(placements), bad, "undecided or refused by the hub: see spokewire explain placement")
}

// checkHub finds a bridge that has never seen its hub.
func checkHub(objects, placements int) Finding {
	f := Finding{Check: "hub observed", OK: objects > 0 || placements == 0, Detail: fmt.Sprintf("%d objects", objects)}
	if !f.OK {
		f.Detail = fmt.Sprintf("nothing of the hub is known, but %d Placements are: does hub-bridge run, and does it reach the hub? Its log says (spokewire up: DATA/logs/hub-bridge.log); with KUBECONFIG set, doctor looks at the hub too", placements)
	}
	return f
}

// slowAnswer is the age from which a decision without a receipt is overdue.
const slowAnswer = 5 * time.Second

func checkAnswered(placements []inventory.Placement, now time.Time) Finding {
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
	return verdictOn("decisions answered", decided, overdue, "without a receipt for more than "+span(slowAnswer)+", so hub-bridge or the hub does not answer: see hub-bridge's log (spokewire up: DATA/logs/hub-bridge.log)")
}

// checkDead looks at the letters that nobody dropped.
func checkDead(letters []inventory.Letter, now time.Time) Finding {
	total := 0
	var recent []string
	for _, l := range letters {
		if l.Dropped != nil {
			continue
		}
		total++
		if now.Sub(l.ReceivedAt) < time.Hour {
			recent = append(recent, l.ID)
		}
	}
	return verdictOn("dead letters", total, recent, "from the last hour: see spokewire dead show, and say that they are dealt with by spokewire dead drop")
}
