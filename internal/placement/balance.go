package placement

import "github.com/spokewire/spokewire/pkg/schemas"

// balance is what all other Placements have selected, as one ranking sees
// it.
type balance struct {
	version uint64 // of the counts that it was computed from, from 1
	own     bits   // the clusters that the Placement itself has selected
	most    int32  // of all clusters, how often others selected one
}

// score is that of the cluster.
func (b *balance) score(counts *decisionCounts, id int32) int64 {
	return balanceScore(b.others(counts, id), b.most)
}

// others is how many other Placements selected the cluster.
func (b *balance) others(counts *decisionCounts, id int32) int32 {
	n := counts.of(id)
	if b.own.has(id) {
		n--
	}
	return n
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

// refresh reports which clusters have another score since the last time:
// those that it adds to changed, or all of them.
func (b *balance) refresh(counts *decisionCounts, own Key, changed []int32) (_ []int32, all bool) {
	if b.version == counts.version {
		return changed, false
	}
	since, known := counts.after(b.version)
	for _, x := range since {
		changed = append(changed, x.id)
	}
	b.own.set(counts.by[own])
	most := counts.mostBut(counts.by[own])
	all = !known || most != b.most
	b.version, b.most = counts.version, most
	return changed, all
}
