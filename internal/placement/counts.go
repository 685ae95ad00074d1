package placement

import (
	"slices"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// decisionCounts is what every Placement has selected, whoever decided it:
// Balance counts it.
type decisionCounts struct {
	of      map[Key][]int32
	total   []int32 // by cluster number
	version uint64
}

// SetDecision says which clusters the Placement has selected now.
func (f *Fleet) SetDecision(k Key, names []string) {
	ids := make([]int32, len(names))
	for i, name := range names {
		ids[i] = f.id(name)
	}
	if slices.Equal(f.counts.of[k], ids) {
		return
	}
	f.counts.replace(k, ids, len(f.names))
}

// DeleteDecision says that the Placement has no decision any more.
func (f *Fleet) DeleteDecision(k Key) {
	if _, known := f.counts.of[k]; known {
		f.counts.replace(k, nil, len(f.names))
		delete(f.counts.of, k)
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
	for len(c.total) < size {
		c.total = append(c.total, 0)
	}
	for _, id := range c.of[k] {
		c.total[id]--
	}
	for _, id := range ids {
		c.total[id]++
	}
	c.of[k] = ids
	c.version++
}
