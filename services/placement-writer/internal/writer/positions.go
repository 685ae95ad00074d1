package writer

import (
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
)

// positions is how far the streams are folded, by what depends on it.
type positions struct {
	fleet  uint64                   // SW_HUB: clusters, sets, bindings
	config uint64                   // SW_CONFIG: the fleet's PlacementPolicy, and cordons
	asked  map[placement.Key]uint64 // SW_CONFIG: Rebalances
	scores map[string]uint64        // SW_SCORES, by scorer
	addOns map[string]uint64        // SW_HUB, by AddOnPlacementScore name
}

func newPositions() positions {
	return positions{asked: map[placement.Key]uint64{}, scores: map[string]uint64{}, addOns: map[string]uint64{}}
}

// lower takes back what is beyond the end of a stream that was read anew: the
// store was restored, and what stood there is gone.
func (p *positions) lower(stream string, end uint64) {
	named := p.scores
	switch stream {
	case events.StreamHub:
		p.fleet, named = min(p.fleet, end), p.addOns
	case events.StreamConfig:
		p.config, named = min(p.config, end), nil
		for k, position := range p.asked {
			p.asked[k] = min(position, end)
		}
	}
	for name, position := range named {
		named[name] = min(position, end)
	}
}

// saw notes the position of a score, also for those that may read any.
func saw(named map[string]uint64, name string, sequence uint64) {
	for _, name := range []string{name, placement.AnyResource} {
		named[name] = max(named[name], sequence)
	}
}
