package placement

import (
	"slices"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// decisionCounts is what every Placement has selected, whoever decided it:
// Balance counts it.
type decisionCounts struct {
	by    map[Key][]int32 // each cluster once
	total []int32         // by cluster number
	// having is how many clusters each number of Placements selected; most is
	// the highest number that is not none's.
	having  []int32
	most    int32
	version uint64
	changes
}

// SetDecision says which clusters the Placement has selected now.
func (f *Fleet) SetDecision(k Key, names []string) {
	ids := make([]int32, 0, len(names))
	seen := make(map[int32]bool, len(names))
	for _, name := range names {
		if id := f.id(name); !seen[id] { // somebody else's page may name one twice
			seen[id] = true
			ids = append(ids, id)
		}
	}
	if slices.Equal(f.counts.by[k], ids) {
		return
	}
	f.counts.replace(k, ids, len(f.names))
}

// DeleteDecision says that the Placement has no decision any more.
func (f *Fleet) DeleteDecision(k Key) {
	if _, known := f.counts.by[k]; known {
		f.counts.replace(k, nil, len(f.names))
		delete(f.counts.by, k)
	}
}

// SelectedNames returns the names of a decision's clusters.
func SelectedNames(d *schemas.PlacementDecision) []string {
	names := make([]string, len(d.Clusters))
	for i, c := range d.Clusters {
		names[i] = c.Name
	}
	return names
}

func (c *decisionCounts) replace(k Key, ids []int32, size int) {
	c.version++
	before := c.by[k]
	c.by[k] = ids
	for _, id := range before {
		c.add(id, -1, size)
	}
	for _, id := range ids {
		c.add(id, 1, size)
	}
	for c.most > 0 && c.having[c.most] == 0 {
		c.most--
	}
}

// add counts one selection of the cluster more, or one less. Of size clusters
// as many changes are kept: beyond it, looking at all is cheaper.
func (c *decisionCounts) add(id, by int32, size int) {
	for len(c.total) < size {
		c.total = append(c.total, 0)
	}
	n := c.total[id]
	for int(n)+1 >= len(c.having) {
		c.having = append(c.having, 0)
	}
	if n > 0 {
		c.having[n]--
	}
	n += by
	c.total[id] = n
	if n > 0 {
		c.having[n]++
	}
	c.most = max(c.most, n)
	c.note(c.version, id, size+256)
}

// of is how many Placements selected the cluster.
func (c *decisionCounts) of(id int32) int32 {
	if int(id) < len(c.total) {
		return c.total[id]
	}
	return 0
}

// mostBut is the highest number of Placements that selected the same cluster,
// without the one whose clusters own are.
func (c *decisionCounts) mostBut(own []int32) int32 {
	highest := int32(0)
	for _, id := range own {
		if c.total[id] == c.most {
			highest++
		}
	}
	if c.most > 0 && highest == c.having[c.most] {
		return c.most - 1 // which its own clusters have, less itself
	}
	return c.most
}
