package writer

import (
	"maps"
	"slices"

	"github.com/spokewire/spokewire/internal/placement"
)

// ahead holds the Placements whose own last decision counts for Balance
// before it was read back from the log: with its sequence, 0 while it is on
// its way. Decisions name them, so that they can be made again from the log.
type ahead map[placement.Key]uint64

// but lists all of them other than own.
func (a ahead) but(own placement.Key) []string {
	var names []string
	for _, k := range slices.SortedFunc(maps.Keys(a), placement.Key.Compare) {
		if k != own {
			names = append(names, k.String())
		}
	}
	return names
}

// away reports whether a decision of k is on its way.
func (a ahead) away(k placement.Key) bool {
	own, there := a[k]
	return there && own == 0
}

// read takes note that the log was read up to a decision of k.
func (a ahead) read(k placement.Key, sequence uint64) {
	if own := a[k]; own != 0 && own <= sequence {
		delete(a, k)
	}
}

// reread follows a complete reading of the log.
func (a ahead) reread() {
	maps.DeleteFunc(a, func(_ placement.Key, own uint64) bool { return own != 0 })
}
