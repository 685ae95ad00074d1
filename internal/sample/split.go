package sample

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Split cuts a snapshot by the value of a label, which its samples then have
// no more: one list for each of clusters that has samples. Of the others, and
// of samples without the label, it says that they are left out.
func (s Snapshot) Split(label string, clusters []string) (map[string][]schemas.Sample, Snapshot) {
	known := make(map[string]bool, len(clusters))
	for _, name := range clusters {
		known[name] = true
	}
	parts, kept, left := map[string][]schemas.Sample{}, Snapshot{Samples: []schemas.Sample{}}, Selection{left: map[Reason]Left{}}
	for _, one := range s.Samples {
		name := one.Labels[label]
		switch {
		case name == "":
			left.leave(NoCluster, fmt.Sprintf("%s has no label %s", one.Series(), label))
			continue
		case !known[name]:
			left.leave(UnknownCluster, fmt.Sprintf("%s is of a cluster that is not among clusters", one.Series()))
			continue
		}
		kept.Samples = append(kept.Samples, one)
		of := one
		of.Labels = maps.Clone(one.Labels)
		delete(of.Labels, label)
		parts[name] = append(parts[name], of)
	}
	kept.Left = slices.Clone(s.Left)
	for _, reason := range slices.Sorted(maps.Keys(left.left)) {
		kept.Left = append(kept.Left, left.left[reason])
	}
	return parts, kept
}
