package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/score"
)

// position is how far the streams that a score rests on were read.
type position struct {
	metrics, hub, config uint64
}

// covers reports whether p is at least as far as q everywhere.
func (p position) covers(q position) bool {
	return p.metrics >= q.metrics && p.hub >= q.hub && p.config >= q.config
}

// snapshot is the state that scores follow from.
type snapshot struct {
	clusters map[string]*cluster
	scorers  map[string]*scorer
	// readers are the live scorers that read a metric name; dynamic those
	// that may read any.
	readers map[string][]*scorer
	dynamic []*scorer
	live    int // scorers that are not deleted

	position position
	// event numbers the folded events, so that each marks a scorer once.
	event uint64
}

func newSnapshot() snapshot {
	return snapshot{clusters: map[string]*cluster{}, scorers: map[string]*scorer{}, readers: map[string][]*scorer{}}
}

// presence is what the hub says of a cluster.
type presence int8

const (
	unknown presence = iota // nothing: there may be no hub
	present
	deleted
)

// cluster is what is known of one cluster.
type cluster struct {
	score.Cluster
	name    string
	on      presence
	hub     uint64 // sequence of what the hub said last
	hubAt   time.Time
	metrics uint64 // that of its newest metric event
	pairs   map[string]*pair
}

func (s *snapshot) cluster(name string) *cluster {
	c := s.clusters[name]
	if c == nil {
		c = &cluster{name: name, pairs: map[string]*pair{}}
		s.clusters[name] = c
	}
	return c
}

// scorer is one that was asked for, or deleted since.
type scorer struct {
	name     string
	sequence uint64         // of its last event
	program  *score.Program // nil once it is deleted
	marked   uint64         // the event that marked it last
	// receivedAt is when its last event was stored.
	receivedAt time.Time
}

// pair is one scorer's view of one cluster: one subject of SW_SCORES.
type pair struct {
	decider.Turn
	decider.Alarm
	cluster *cluster
	scorer  string

	// What the subject's last event says. prior is nil where there is none,
	// or a tombstone, or one that cannot be read.
	sequence   uint64
	receivedAt time.Time
	prior      *score.State
	// basis is what prior rests on, where ours: a scorer service wrote it.
	basis position
	ours  bool

	// trigger is the oldest event that the pair has not been evaluated since.
	trigger *decider.Trigger
}

func (c *cluster) pair(scorer string) *pair {
	p := c.pairs[scorer]
	if p == nil {
		p = &pair{cluster: c, scorer: scorer}
		c.pairs[scorer] = p
	}
	return p
}

// source is the place of a source, or where it would be.
func (c *cluster) source(name string) (at int, found bool) {
	return slices.BinarySearchFunc(c.Sources, name, func(s *score.Source, name string) int { return strings.Compare(s.Name, name) })
}

func (c *cluster) drop(source int) { c.Sources = slices.Delete(c.Sources, source, source+1) }

// scored reports whether scorers have anything to say of p's cluster. One
// that the hub does not know is scored by its metrics alone, for there need
// not be a hub.
func (p *pair) scored() bool {
	switch p.cluster.on {
	case present:
		return true
	case deleted:
		return false
	}
	return len(p.cluster.Sources) > 0 || p.ours && p.prior != nil
}

// seen is the position up to which p's own inputs go.
func (p *pair) seen(s *scorer) position {
	return position{metrics: p.cluster.metrics, hub: p.cluster.hub, config: s.sequence}
}

// recount takes the positions from what is there: after a store was
// restored they can be lower than they were.
func (s *snapshot) recount() {
	s.position = position{}
	for _, c := range s.clusters {
		c.metrics = 0
		for _, src := range c.Sources {
			c.metrics = max(c.metrics, src.Sequence)
		}
		s.position.metrics = max(s.position.metrics, c.metrics)
		s.position.hub = max(s.position.hub, c.hub)
	}
	for _, sc := range s.scorers {
		s.position.config = max(s.position.config, sc.sequence)
	}
}

// index rebuilds which scorer reads what.
func (s *snapshot) index() {
	clear(s.readers)
	s.dynamic, s.live = nil, 0
	for _, sc := range s.scorers {
		if sc.program == nil {
			continue
		}
		s.live++
		names, dynamic := sc.program.Metrics()
		if dynamic {
			s.dynamic = append(s.dynamic, sc)
			continue
		}
		for _, name := range names {
			s.readers[name] = append(s.readers[name], sc)
		}
	}
}
