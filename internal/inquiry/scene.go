package inquiry

import (
	"maps"
	"slices"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Scene is what the decisions of one Placement rest on at one moment. It is
// not safe for use by several goroutines at once.
type Scene struct {
	Key placement.Key
	// Now is the server time that decisions are made for.
	Now time.Time

	fleet    *placement.Fleet
	clusters map[string]*schemas.Cluster
	sets     map[string]*schemas.ClusterSet
	bindings map[placement.Key]string
	known    map[placement.Key]*placement.Known
	scores   map[pair]*schemas.Score // the last ones, whoever wrote them
	addOns   map[pair]*schemas.Score
}

// pair is one scorer's scores of one cluster.
type pair struct{ cluster, scorer string }

// New returns a Scene in which there is nothing.
func New(key placement.Key, now time.Time) *Scene {
	return &Scene{
		Key: key, Now: now,
		fleet:    placement.NewFleet(),
		clusters: map[string]*schemas.Cluster{},
		sets:     map[string]*schemas.ClusterSet{},
		bindings: map[placement.Key]string{},
		known:    map[placement.Key]*placement.Known{},
		scores:   map[pair]*schemas.Score{},
		addOns:   map[pair]*schemas.Score{},
	}
}

// Take takes in what a subject's event says. The events of one subject come
// in their order. One that is refused is left out, as it is by the service
// that decides.
func (s *Scene) Take(r *events.Received) {
	m := &r.Message
	switch p := r.Payload.(type) {
	case *schemas.Cluster:
		s.setCluster(p)
	case *schemas.ClusterSet:
		if s.fleet.SetClusterSet(p) == nil {
			s.sets[p.Name] = p
		}
	case *schemas.Binding:
		s.bindings[placement.Key{Namespace: p.Namespace, Name: p.Name}] = p.ClusterSet
		s.fleet.SetBinding(p)
	case *schemas.PlacementPolicy:
		s.fleet.SetPolicy(&p.Spec)
	case *schemas.Cordon:
		s.fleet.SetCordon(p.Metadata.Name, &p.Spec)
	case *schemas.Rebalance:
		s.fleet.SetRebalance(s.Key, p, m.ReceivedAt)
	case *schemas.Score:
		s.scores[pair{p.Cluster, p.Scorer}] = expiring(p, m.ReceivedAt)
		s.fleet.SetScore(p, m.ReceivedAt, m.ReceivedAt)
	case *schemas.AddOnScore:
		s.addOns[pair{p.Cluster, p.Name}] = scoreOf(p)
		s.fleet.SetAddOnScore(p, m.ReceivedAt)
	case *schemas.Placement:
		if parsed, err := placement.Parse(*p); err == nil {
			s.of(r.Subject).Object = parsed
		}
	case *schemas.ObservedDecision:
		s.of(r.Subject).Observed = p
	case *schemas.PlacementDecision:
		if s.counts(r.Subject) {
			s.TakeDecision(p, m.Sequence)
		}
	case *schemas.Deleted:
		s.takeDeleted(r.Subject, p)
	}
}

// Refuse says why the last event of a subject does not count, after what was
// said before it. Decisions name a set that never made sense.
func (s *Scene) Refuse(subject string, cause error) {
	if parsed, err := events.ParseSubject(subject); err == nil && parsed.Family == events.FamilyHub && parsed.Kind == events.KindClusterSet {
		s.fleet.RefuseClusterSet(parsed.Name, cause)
	}
}

// counts reports whether a decision is what the Scene goes on from: for its
// own Placement in shadow the shadow's, otherwise those that are carried out.
func (s *Scene) counts(subject events.Subject) bool {
	own := subject.Namespace == s.Key.Namespace && subject.Name == s.Key.Name
	return (subject.Kind == events.KindShadow) == (own && s.inShadow())
}

func (s *Scene) inShadow() bool {
	p := s.Placement()
	return p != nil && p.Object.Mode() == schemas.ModeShadow
}

// DecisionSubject is where the Placement's own decisions are.
func (s *Scene) DecisionSubject() string {
	kind := events.KindPlacement
	if s.inShadow() {
		kind = events.KindShadow
	}
	return events.DecisionSubject(kind, s.Key.Namespace, s.Key.Name)
}

// TakeDecision takes in a Placement's last decision.
func (s *Scene) TakeDecision(d *schemas.PlacementDecision, sequence uint64) {
	k := s.get(placement.Key{Namespace: d.Placement.Namespace, Name: d.Placement.Name})
	k.Decision, k.Sequence = d, sequence
}

// DropDecision says that the Placement has no decision yet.
func (s *Scene) DropDecision() {
	k := s.get(s.Key)
	k.Decision, k.Sequence = nil, 0
}

// takeDeleted takes a tombstone. It is the first that a Scene hears of its
// subject, or follows what it ends.
func (s *Scene) takeDeleted(subject events.Subject, d *schemas.Deleted) {
	switch {
	case subject.Family == events.FamilyScore:
		delete(s.scores, pair{subject.Cluster, subject.Name})
		s.fleet.DeleteScore(subject.Cluster, subject.Name, s.Now)
	case subject.Family == events.FamilyConfig && subject.Kind == events.KindCordon:
		s.fleet.SetCordon(subject.Name, nil)
	case subject.Family == events.FamilyConfig:
		s.fleet.SetPolicy(nil)
	case subject.Family == events.FamilyDecision:
		if s.counts(subject) {
			s.of(subject).Decision = nil
		}
	case subject.Kind == events.KindPlacement:
		s.of(subject).Object, s.of(subject).Deleted = nil, d
	case subject.Kind == events.KindPlacementDecision:
		s.of(subject).Observed = nil
	}
}

func (s *Scene) of(subject events.Subject) *placement.Known {
	return s.get(placement.Key{Namespace: subject.Namespace, Name: subject.Name})
}

func (s *Scene) get(k placement.Key) *placement.Known {
	if s.known[k] == nil {
		s.known[k] = &placement.Known{}
	}
	return s.known[k]
}

func (s *Scene) setCluster(c *schemas.Cluster) {
	s.clusters[c.Name] = c
	s.fleet.SetCluster(c)
}

func (s *Scene) deleteCluster(name string) {
	delete(s.clusters, name)
	s.fleet.DeleteCluster(name)
}

// Placement returns the Placement that the Scene is about, nil where the hub
// has none, or one that makes no sense.
func (s *Scene) Placement() *placement.Placement { return s.get(s.Key).Object }

// Has reports whether the hub has a cluster.
func (s *Scene) Has(cluster string) bool { return s.clusters[cluster] != nil }

// Clusters lists what the hub has.
func (s *Scene) Clusters() int { return len(s.clusters) }

// Last returns the Placement's last decision and where it stands, nil if
// there is none.
func (s *Scene) Last() (*schemas.PlacementDecision, uint64) {
	k := s.get(s.Key)
	return k.Decision, k.Sequence
}

// Decide makes the decision.
func (s *Scene) Decide() schemas.PlacementDecision {
	return placement.Decide(s.input(), s.Now)
}

// ranking is up to date with the Scene.
func (s *Scene) ranking() *placement.Ranking {
	in := s.input()
	prior := in.Prior
	if prior != nil && prior.Decision.Placement.UID != in.Placement.Object.UID {
		prior = nil
	}
	r := placement.NewRanking(in.Placement, in.Fleet, prior)
	r.Refresh(s.Now)
	return r
}

func (s *Scene) input() placement.Input {
	for key, known := range s.known {
		if names := known.Selected(); names != nil {
			s.fleet.SetDecision(key, names)
		}
	}
	own := s.get(s.Key)
	return placement.Input{Placement: own.Object, Fleet: s.fleet, Prior: own.Prior()}
}

// expiring is a score that says itself until when it holds.
func expiring(p *schemas.Score, receivedAt time.Time) *schemas.Score {
	if p.ValidUntil != nil || p.ValidFor == 0 {
		return p
	}
	until := p.Expiry(receivedAt)
	out := *p
	out.ValidFor, out.ValidUntil = 0, &until
	return &out
}

// scoreOf is an AddOnPlacementScore in the words of a scorer.
func scoreOf(p *schemas.AddOnScore) *schemas.Score {
	out := &schemas.Score{Cluster: p.Cluster, Scorer: p.Name, ValidUntil: p.ValidUntil}
	for _, name := range slices.Sorted(maps.Keys(p.Scores)) {
		value := p.Scores[name]
		out.Items = append(out.Items, schemas.ScoreItem{Name: name, Value: &value, Reason: schemas.ScoreComputedReason})
	}
	return out
}
