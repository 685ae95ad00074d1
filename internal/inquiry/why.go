package inquiry

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Explain says of any cluster what the Scene's decision makes of it, and its
// rank among the eligible ones.
func (s *Scene) Explain(cluster string) (e schemas.Explanation, rank, of int) {
	r := s.ranking()
	rank, of = r.Rank(cluster)
	return r.Explain(cluster), rank, of
}

// Changes says what would have to be otherwise for the cluster to be
// selected: all of it together. Each step is tried with the same rules that
// decide, so sufficient is true only where the cluster was selected in the
// end. It changes the Scene, which is of no further use.
func (s *Scene) Changes(cluster string) (changes []schemas.Change, sufficient bool) {
	if s.ranking().Selects(cluster) {
		return nil, true
	}
	q := &search{Scene: s, cluster: cluster, was: map[string]*int32{}}
	for _, c := range s.coordinates() {
		q.was[c.Resource+"/"+c.Score] = s.itemOf(cluster, &c)
	}
	return q.changes()
}

// search looks for what would select one cluster.
type search struct {
	*Scene
	cluster string
	was     map[string]*int32 // scores before the search, by name
}

// coordinates are the scores that the Placement counts; a Scene without a
// Placement has none.
func (s *Scene) coordinates() []placement.Coordinate {
	if p := s.Placement(); p != nil {
		return p.Coordinates()
	}
	return nil
}

func (s *search) changes() (changes []schemas.Change, sufficient bool) {
	cluster := s.cluster
	// A step that is taken may lead to another obstacle: two rounds for
	// facts, one for scores.
	for range 3 {
		obstacles := s.ranking().Obstacles(cluster)
		if len(obstacles) == 0 {
			break
		}
		for _, o := range obstacles {
			changes = append(changes, o.Change)
			if !s.clear(&o) {
				return changes, false
			}
		}
	}
	r := s.ranking()
	if rank, _ := r.Rank(cluster); rank == 0 {
		return changes, false
	}
	if r.Selects(cluster) {
		return changes, true
	}
	more, sufficient := s.raise()
	for _, c := range more {
		changes = slices.DeleteFunc(changes, func(x schemas.Change) bool { return x.Kind == c.Kind && x.Name == c.Name })
	}
	return append(changes, more...), sufficient
}

// clear takes an obstacle out of the way, if that can be done.
func (s *search) clear(o *placement.Obstacle) bool {
	switch {
	case o.Cordon:
		s.fleet.SetCordon(s.cluster, nil)
	case o.Fix != nil:
		s.edit(s.cluster, o.Fix)
	case o.Score != nil:
		worst := -best(o.Score)
		s.supposeScore(s.cluster, o.Score.Resource, o.Score.Score, &worst)
	default:
		return false
	}
	return true
}

// best is the score that helps most.
func best(c *placement.Coordinate) int32 {
	if c.Weight < 0 {
		return schemas.MinScore
	}
	return schemas.MaxScore
}

// raise looks for the least change of one score that selects the cluster,
// that of the greatest weight first; failing that, for the best of all.
func (s *search) raise() ([]schemas.Change, bool) {
	coordinates := s.coordinates()
	coordinates = slices.DeleteFunc(coordinates, func(c placement.Coordinate) bool { return c.Weight == 0 })
	slices.SortStableFunc(coordinates, func(a, b placement.Coordinate) int { return int(abs(b.Weight) - abs(a.Weight)) })
	for i := range coordinates {
		if change, found := s.least(&coordinates[i]); found {
			return []schemas.Change{change}, true
		}
	}
	if len(coordinates) == 0 {
		return []schemas.Change{s.total()}, false
	}
	var all []schemas.Change
	for i := range coordinates {
		c := &coordinates[i]
		value := best(c)
		all = append(all, s.scoreChange(c, value, "must be"))
		s.supposeScore(s.cluster, c.Resource, c.Score, &value)
	}
	if s.ranking().Selects(s.cluster) {
		return all, true
	}
	return append(all, s.total()), false
}

// least finds the value nearest to the present one that selects the cluster,
// and leaves the score as it was where there is none.
func (s *search) least(c *placement.Coordinate) (schemas.Change, bool) {
	now := s.itemOf(s.cluster, c)
	top := best(c)
	from := -top
	if now != nil {
		from = *now
	}
	selects := func(value int32) bool {
		s.supposeScore(s.cluster, c.Resource, c.Score, &value)
		return s.ranking().Selects(s.cluster)
	}
	if !selects(top) {
		s.supposeScore(s.cluster, c.Resource, c.Score, now)
		return schemas.Change{}, false
	}
	step := int32(1)
	if top < from {
		step = -1
	}
	// Of the values from..top, in steps, the last one selects.
	low, high := int32(0), (top-from)*step
	for low < high {
		middle := (low + high) / 2
		if selects(from + middle*step) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	words := "must be at least"
	if step < 0 {
		words = "must be at most"
	}
	return s.scoreChange(c, from+high*step, words), true
}

func (s *search) scoreChange(c *placement.Coordinate, want int32, words string) schemas.Change {
	name := c.Resource + "/" + c.Score
	have := s.was[name]
	change := schemas.Change{Kind: schemas.ChangeScore, Name: name, Want: strconv.Itoa(int(want))}
	is := "there is none"
	if have != nil {
		change.Have = strconv.Itoa(int(*have))
		is = "it is " + change.Have
	}
	change.Message = fmt.Sprintf("score %s %s %d, %s", name, words, want, is)
	return change
}

// itemOf is the present value of a score, nil if there is none.
func (s *Scene) itemOf(cluster string, c *placement.Coordinate) *int32 {
	score := s.lastScore(cluster, c.Resource)
	if score == nil {
		return nil
	}
	for _, item := range score.Items {
		if item.Name == c.Score {
			return item.Value
		}
	}
	return nil
}

// total says how far the cluster stays behind.
func (s *search) total() schemas.Change {
	e := s.ranking().Explain(s.cluster)
	change := schemas.Change{Kind: schemas.ChangeTotal, Name: s.cluster, Message: "its total must come before that of the last selected"}
	if e.Score != nil {
		change.Have = strconv.FormatInt(*e.Score, 10)
		change.Message = "its total is " + change.Have
	}
	if e.Message != "" {
		change.Message += ", " + e.Message
	}
	return change
}

func abs(n int64) int64 { return max(n, -n) }
