package placement

import "github.com/spokewire/spokewire/pkg/schemas"

// balance is what all other Placements have selected, as one ranking sees
// it.
type balance struct {
	version uint64  // of the counts that it was computed from
	count   []int32 // by cluster number
	most    int32
	spare   []int32 // the last count, to be used again
}

// balanceScore is the best for a cluster that no other Placement selected,
// and falls to the worst for the one that most did. Half of it is cut to a
// whole number before it is doubled, as OCM does: 2 of 3 is -32.
func balanceScore(count, most int32) int64 {
	if count == 0 {
		return schemas.MaxScore
	}
	usage := float64(count) / float64(most)
	return 2 * int64(float64(schemas.MaxScore)*(0.5-usage))
}

// refresh computes the counts anew and reports which clusters have another
// score for it: those in changed, or all of them.
func (b *balance) refresh(counts *decisionCounts, own Key, size int, changed []int32) (_ []int32, all bool) {
	if b.version == counts.version && len(b.count) == size {
		return changed, false
	}
	fresh := append(b.spare[:0], counts.total...)
	for len(fresh) < size {
		fresh = append(fresh, 0)
	}
	for _, id := range counts.of[own] {
		fresh[id]--
	}
	most := int32(0)
	for _, n := range fresh {
		most = max(most, n)
	}
	all = most != b.most
	for id, n := range fresh {
		if id >= len(b.count) || b.count[id] != n {
			changed = append(changed, int32(id))
		}
	}
	b.version, b.count, b.most, b.spare = counts.version, fresh, most, b.count
	return changed, all
}
