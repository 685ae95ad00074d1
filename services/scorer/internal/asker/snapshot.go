package asker

import (
	"maps"
	"slices"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// snapshot is the state that asking and scores follow from.
type snapshot struct {
	clusters map[string]*cluster
	scorers  map[key]*asked
	// owners are the scorers by the name of their scores.
	owners map[string]*asked
	masks  map[string]*masks // by namespace
	// cel are the names of Scorers, which another part of the service scores.
	cel   map[string]bool
	swept time.Time // in server time
}

func newSnapshot() snapshot {
	return snapshot{clusters: map[string]*cluster{}, scorers: map[key]*asked{}, owners: map[string]*asked{}, masks: map[string]*masks{}, cel: map[string]bool{}}
}

// key names a dynamic scorer.
type key struct{ namespace, name string }

func (k key) String() string { return k.namespace + "/" + k.name }

// cluster is what is known of one cluster.
type cluster struct {
	name string
	// onHub and deleted are what the hub says of it, metrics that it has any.
	onHub, deleted, metrics bool
	hub                     uint64 // sequence of what the hub said last
	hubAt                   time.Time
	pairs                   map[string]*pair // by the score's name
}

// scored reports whether the cluster is there to be scored: as the hub says,
// or without a hub because it has metrics.
func (c *cluster) scored() bool { return c.onHub || c.metrics && !c.deleted }

func (s *snapshot) cluster(name string) *cluster {
	c := s.clusters[name]
	if c == nil {
		c = &cluster{name: name, pairs: map[string]*pair{}}
		s.clusters[name] = c
	}
	return c
}

// wish is what is asked for under a scorer's name, on the hub or the bus.
type wish struct {
	spec       schemas.DynamicScorerSpec
	uid        string
	generation int64
}

// masks are those of one namespace, on the hub or the bus.
type masks struct{ hub, bus dynamic.Masks }

// current are the masks that count.
func (m *masks) current() dynamic.Masks {
	switch {
	case m == nil:
		return nil
	case m.hub != nil:
		return m.hub
	}
	return m.bus
}

// asked is a dynamic scorer.
type asked struct {
	decider.Turn  // its status's
	decider.Alarm // when its status is due

	key      key
	hub, bus *wish
	// scorer is what the wish that counts comes to, problem why it comes to
	// nothing.
	scorer  *dynamic.Scorer
	problem *dynamic.Failure
	terms   score.Terms
	name    string // that its scores have, or had while it is not known
	taken   string // who else has the name

	// What its status's subject says last.
	status     *schemas.ScorerStatus
	sequence   uint64
	receivedAt time.Time

	check   check
	synced  *schemas.SyncedConfig // newer than the status's
	shared  *unit                 // asked for all clusters at once, or
	each    map[string]*unit      // by cluster
	breaker dynamic.Breaker
	// answered is when an answer came last.
	answered time.Time
	// calling are the calls under way, retrying those of them after a failure.
	calling, retrying int
}

// wish returns the one that counts: the hub's goes before the bus's.
func (a *asked) wish() *wish {
	if a.hub != nil {
		return a.hub
	}
	return a.bus
}

// units are all that is asked of a.
func (a *asked) units() []*unit {
	units := slices.Collect(maps.Values(a.each))
	if a.shared != nil {
		units = append(units, a.shared)
	}
	return units
}

// unitOf is where a cluster's answer is, nil while there is none.
func (a *asked) unitOf(c *cluster) *unit {
	if a.each != nil {
		return a.each[c.name]
	}
	return a.shared
}

// position is how far the streams were read that a score rests on.
type position struct{ hub, config, status uint64 }

// pair is one scorer's score of one cluster: a subject of SW_SCORES.
type pair struct {
	decider.Turn
	decider.Alarm
	cluster *cluster
	name    string

	// What the subject's last event says. prior is nil where there is none,
	// or a tombstone, or one that cannot be read.
	sequence   uint64
	receivedAt time.Time
	prior      *score.State
	basis      position
	ours       bool // this part of a scorer service wrote it
}

func (c *cluster) pair(name string) *pair {
	p := c.pairs[name]
	if p == nil {
		p = &pair{cluster: c, name: name}
		c.pairs[name] = p
	}
	return p
}

func (p *pair) due(e *Asker) { e.pairs.Push(p) }

// basisOf reads what a score rests on. SW_STATUS is among it in those that
// this part writes, and in no others.
func basisOf(s *schemas.Score) (p position, ours bool) {
	p.status, ours = s.Basis[events.StreamStatus]
	p.hub, p.config = s.Basis[events.StreamHub], s.Basis[events.StreamConfig]
	return p, ours
}
