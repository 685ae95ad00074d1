package placement

import (
	"slices"

	"github.com/spokewire/spokewire/internal/expression"
)

// reading is the scores that an opinion rests on.
type reading struct {
	resources []string
	items     [][]scoreItem
	selected  bool
	from      int64
	until     int64 // when the answer may change by itself
	wait      wait
}

// read answers scores(), and notes that it was asked.
func (r *Ranking) read(o *opinion, resource string, id int32) ([]expression.Score, bool) {
	if o.scores == nil {
		o.scores = &reading{selected: r.selectedBefore(id), from: r.now, until: never}
	}
	s, items := o.scores, r.fleet.itemsOf(resource, id)
	if !slices.Contains(s.resources, resource) {
		s.resources, s.items = append(s.resources, resource), append(s.items, items)
	}
	var out []expression.Score
	for _, item := range items {
		holds, until, w := r.listed(item, resource, id, s.selected)
		if until < s.until {
			s.until, s.wait = until, w
		}
		if holds {
			out = append(out, expression.Score{Name: item.name, Value: item.value})
		}
	}
	return out, items != nil
}

// listed reports whether scores() has the item, and until when that stays so.
// An expired one is there as far as the stale policy lets it count; with
// StaleZero as OCM has it, which asks of nobody's scores whether they expired.
func (r *Ranking) listed(item scoreItem, resource string, id int32, selected bool) (bool, int64, wait) {
	stale := &r.policy.stale
	switch {
	case item.lost:
		return false, never, forExpiry
	case stale.policy == StaleZero && !r.fleet.scores[resource].isOurs(id):
		return true, never, forExpiry
	case r.now <= item.until:
		return true, following(item.until), forExpiry
	case stale.policy != StaleZero && selected:
		end := plus(item.until, stale.grace)
		if r.now < end {
			return true, end, forGrace
		}
	}
	return false, never, forExpiry
}

// isOurs reports whether a scorer of ours gave the cluster's scores.
func (t *scoreTable) isOurs(id int32) bool { return at(t.ours, id) != nil }

// current reports whether the opinion of the cluster still rests on what is.
func (r *Ranking) current(id int32) bool {
	o := &r.opinions.of[id]
	if o.of != r.fleet.clusters[id] {
		return false
	}
	s := o.scores
	if s == nil {
		return true
	}
	if r.now < s.from || r.now >= s.until || s.selected != r.selectedBefore(id) {
		return false
	}
	for i, resource := range s.resources {
		if now := r.fleet.itemsOf(resource, id); !same(now, s.items[i]) {
			return false
		}
	}
	return true
}

// itemsOf is the scores of that name that count for the cluster.
func (f *Fleet) itemsOf(resource string, id int32) []scoreItem {
	if table := f.scores[resource]; table != nil {
		return table.of(id)
	}
	return nil
}

// same reports whether a and b are one slice. A fleet never writes to one.
func same(a, b []scoreItem) bool {
	return (a == nil) == (b == nil) && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
