package placement

import (
	"cmp"
	"slices"
)

// changes is the clusters that were touched last, oldest first.
type changes struct {
	all []touch
	// forgotten is the version up to which it does not know them any more.
	forgotten uint64
}

// touch is the number of a cluster, and the version of the fleet that the
// change made.
type touch struct {
	version uint64
	id      int32
}

// note adds a change. Of more than keep the older half is forgotten: who is so
// far behind looks at every cluster.
func (c *changes) note(version uint64, id int32, keep int) {
	c.all = append(c.all, touch{version, id})
	if half := len(c.all) / 2; len(c.all) > keep {
		c.forgotten = c.all[half-1].version
		c.all = append(c.all[:0], c.all[half:]...)
	}
}

// after returns the changes after version; false where they are not known any
// more.
func (c *changes) after(version uint64) ([]touch, bool) {
	if version < c.forgotten {
		return nil, false
	}
	i, _ := slices.BinarySearchFunc(c.all, version+1, func(x touch, v uint64) int { return cmp.Compare(x.version, v) })
	return c.all[i:], true
}
