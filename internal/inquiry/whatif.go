package inquiry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Suppose takes the hypotheses of a into the Scene, but for the Placement,
// which comes first, and for metrics, which need scorers. The error is a
// *schemas.FieldError.
func (s *Scene) Suppose(a *schemas.WhatIfAsk) error {
	today := maps.Clone(s.clusters)
	for i, name := range a.Remove {
		if err := s.mustHave(fmt.Sprintf("remove[%d]", i), name); err != nil {
			return err
		}
		s.deleteCluster(name)
	}
	for i := range a.Add {
		if err := s.supposeCluster(fmt.Sprintf("add[%d].like", i), &a.Add[i], today); err != nil {
			return err
		}
	}
	if err := s.supposeTaints(a); err != nil {
		return err
	}
	return s.supposeRequests(a)
}

// supposedRequest names a Rebalance that is only supposed.
const supposedRequest = "what-if"

// supposeRequests takes in what operators might ask for.
func (s *Scene) supposeRequests(a *schemas.WhatIfAsk) error {
	for i, c := range a.Cordon {
		if err := s.mustHave(fmt.Sprintf("cordon[%d].cluster", i), c.Cluster); err != nil {
			return err
		}
		s.fleet.SetCordon(c.Cluster, &schemas.CordonSpec{State: c.State, Force: c.Force})
	}
	if a.Rebalance {
		s.fleet.SetRebalance(s.Key, &schemas.Rebalance{Spec: schemas.RebalanceSpec{ID: supposedRequest}}, s.Now)
	}
	return nil
}

func wrong(field, format string, args ...any) error {
	return &schemas.FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

func (s *Scene) mustHave(field, cluster string) error {
	if s.Has(cluster) {
		return nil
	}
	return wrong(field, "is %q: the hub has no such cluster (spokewire get clusters lists them)", cluster)
}

// SupposePlacement edits the Placement as somebody would on the hub, or
// creates it; with nil it only makes sure that there is one. What the Scene
// Reads depends on it. The error is a *schemas.FieldError.
func (s *Scene) SupposePlacement(p *schemas.WhatIfPlacement) error {
	known := s.get(s.Key)
	switch {
	case p == nil && known.Object == nil:
		return wrong("name", "is %q: the hub has no such Placement (give placement.spec to suppose one)", s.Key)
	case p == nil:
		return nil
	}
	object := schemas.Placement{Namespace: s.Key.Namespace, Name: s.Key.Name, UID: "hypothetical", Direct: true}
	if known.Object != nil {
		object = known.Object.Object
	}
	object.Generation++
	object.Spec = p.Spec
	if p.Annotations != nil {
		object.Annotations = p.Annotations
	}
	parsed, err := placement.Parse(object)
	if err != nil {
		return wrong("placement.spec", "%v", err)
	}
	known.Object = parsed
	return nil
}

// supposeCluster takes in a cluster that comes. One that says nothing of
// itself is like another one, or else just in the Placement's first
// exclusive set. It may be like one that goes.
func (s *Scene) supposeCluster(field string, a *schemas.WhatIfCluster, today map[string]*schemas.Cluster) error {
	c := a.Cluster
	if a.Like != "" {
		like := today[a.Like]
		if like == nil {
			return s.mustHave(field, a.Like)
		}
		c.Labels, c.Claims = over(like.Labels, c.Labels), over(like.Claims, c.Claims)
		c.Annotations, c.Taints = over(like.Annotations, c.Annotations), append(slices.Clone(like.Taints), c.Taints...)
		c.Allocatable, c.Capacity = over(like.Allocatable, c.Allocatable), over(like.Capacity, c.Capacity)
		s.copyScores(a.Like, c.Name)
	} else if len(c.Labels) == 0 {
		if set := s.exclusiveSet(); set != "" {
			c.Labels = map[string]string{clusterv1beta2.ClusterSetLabel: set}
		}
	}
	s.setCluster(&c)
	return nil
}

func over(base, top map[string]string) map[string]string {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, top)
	return out
}

// exclusiveSet is the first set, by name, that a label lets a cluster into
// and that the Placement selects from.
func (s *Scene) exclusiveSet() string {
	var found []string
	for k, set := range s.bindings {
		declared, wanted := s.sets[set], s.Placement().Spec.ClusterSets
		if k.Namespace != s.Key.Namespace || declared == nil || len(wanted) > 0 && !slices.Contains(wanted, set) {
			continue
		}
		if t := clusterv1beta2.SelectorType(declared.SelectorType); t == "" || t == clusterv1beta2.ExclusiveClusterSetLabel {
			found = append(found, set)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

func (s *Scene) copyScores(from, to string) {
	for key, score := range maps.All(maps.Clone(s.scores)) {
		if key.cluster == from {
			copied := *score
			copied.Cluster = to
			s.setScore(&copied)
		}
	}
	for key, score := range maps.All(maps.Clone(s.addOns)) {
		if key.cluster == from && s.scores[pair{to, key.scorer}] == nil {
			copied := *score
			copied.Cluster = to
			s.setScore(&copied)
		}
	}
}

func (s *Scene) setScore(p *schemas.Score) {
	s.scores[pair{p.Cluster, p.Scorer}] = p
	s.fleet.SetScore(p, s.Now, s.Now)
}

func (s *Scene) supposeTaints(a *schemas.WhatIfAsk) error {
	for i, u := range a.Untaint {
		if err := s.mustHave(fmt.Sprintf("untaint[%d].cluster", i), u.Cluster); err != nil {
			return err
		}
		before := s.clusters[u.Cluster].Taints
		kept := slices.DeleteFunc(slices.Clone(before), func(t schemas.Taint) bool { return u.Key == "" || t.Key == u.Key })
		if u.Key != "" && len(kept) == len(before) {
			return wrong(fmt.Sprintf("untaint[%d].key", i), "is %q: %s has no such taint", u.Key, u.Cluster)
		}
		s.edit(u.Cluster, func(c *schemas.Cluster) { c.Taints = kept })
	}
	for i, t := range a.Taint {
		if err := s.mustHave(fmt.Sprintf("taint[%d].cluster", i), t.Cluster); err != nil {
			return err
		}
		switch t.Taint.Effect {
		case "NoSelect", "PreferNoSelect", "NoSelectIfNew":
		default:
			return wrong(fmt.Sprintf("taint[%d].taint.effect", i), "is %q, want NoSelect, PreferNoSelect or NoSelectIfNew", t.Taint.Effect)
		}
		if t.Taint.TimeAdded.IsZero() {
			t.Taint.TimeAdded = s.Now
		}
		s.edit(t.Cluster, func(c *schemas.Cluster) { c.Taints = append(slices.Clone(c.Taints), t.Taint) })
	}
	return nil
}

// edit changes a copy of the cluster.
func (s *Scene) edit(name string, change func(*schemas.Cluster)) {
	c := *s.clusters[name]
	change(&c)
	s.setCluster(&c)
}

// SupposeScores takes hypothetical scores, which come before those that
// follow from metrics. The error is a *schemas.FieldError.
func (s *Scene) SupposeScores(scores []schemas.WhatIfScore) error {
	for i, w := range scores {
		if err := s.mustHave(fmt.Sprintf("scores[%d].cluster", i), w.Cluster); err != nil {
			return err
		}
		item := w.Item
		if item == "" {
			item = w.Scorer
		}
		coordinates := s.coordinates()
		if !slices.ContainsFunc(coordinates, func(c placement.Coordinate) bool { return c.Resource == w.Scorer && c.Score == item }) {
			return wrong(fmt.Sprintf("scores[%d].scorer", i), "is %s, of which the Placement does not count %s: it counts %s", w.Scorer, item, listed(coordinates))
		}
		s.supposeScore(w.Cluster, w.Scorer, item, w.Value)
	}
	return nil
}

func listed(coordinates []placement.Coordinate) string {
	if len(coordinates) == 0 {
		return "no scores"
	}
	var out []string
	for _, c := range coordinates {
		out = append(out, c.Resource+"/"+c.Score)
	}
	return strings.Join(out, ", ")
}

// supposeScore replaces one item; its neighbours stay. No value withdraws it.
func (s *Scene) supposeScore(cluster, scorer, item string, value *int32) {
	next := &schemas.Score{Cluster: cluster, Scorer: scorer}
	if last := s.lastScore(cluster, scorer); last != nil {
		copied := *last
		next = &copied
	}
	reason := schemas.ScoreComputedReason
	if value == nil {
		reason = "Supposed"
	}
	supposed := schemas.ScoreItem{Name: item, Value: value, Reason: reason}
	next.Items = slices.DeleteFunc(slices.Clone(next.Items), func(i schemas.ScoreItem) bool { return i.Name == item })
	next.Items = append(next.Items, supposed)
	if next.ValidUntil != nil && !next.ValidUntil.After(s.Now) {
		next.ValidUntil = nil
	}
	s.setScore(next)
}

// lastScore is what counts: a scorer's own word before an
// AddOnPlacementScore that somebody else wrote.
func (s *Scene) lastScore(cluster, scorer string) *schemas.Score {
	if score := s.scores[pair{cluster, scorer}]; score != nil {
		return score
	}
	return s.addOns[pair{cluster, scorer}]
}
