package inventory

import (
	"maps"
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// ModeRequested is the mode of a Placement that was applied over the bus and
// is not on the hub yet.
const ModeRequested = "requested"

// Placement is a Placement with what was decided for it last.
type Placement struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Mode is direct, native, shadow or requested.
	Mode     string    `json:"mode"`
	OnHub    bool      `json:"onHub"`
	Deleting bool      `json:"deleting,omitempty"`
	Decision *Decision `json:"decision,omitempty"`
	Receipt  *Receipt  `json:"receipt,omitempty"`
}

// Decision is the last decision, and where it stands.
type Decision struct {
	Sequence   uint64    `json:"sequence"`
	ReceivedAt time.Time `json:"receivedAt"`
	*schemas.PlacementDecision
}

// Receipt is the bridge's last word on the Placement, be it on a request or
// on a decision.
type Receipt struct {
	ReceivedAt time.Time `json:"receivedAt"`
	*schemas.Receipt
}

// Placements lists the Placements of SW_HUB, SW_DECISIONS and SW_CONFIG,
// sorted by namespace and name.
func Placements(s *State) []Placement {
	byKey := map[string]*Placement{}
	get := func(namespace, name string) *Placement {
		key := namespace + "/" + name
		if byKey[key] == nil {
			byKey[key] = &Placement{Namespace: namespace, Name: name, Mode: ModeRequested}
		}
		return byKey[key]
	}
	for _, e := range Entries[*schemas.PlacementRequest](s, events.FamilyConfig) {
		get(e.Value.Metadata.Namespace, e.Value.Metadata.Name)
	}
	for _, e := range Entries[*schemas.PlacementDecision](s, events.FamilyDecision) {
		p := get(e.Value.Placement.Namespace, e.Value.Placement.Name)
		p.Mode = e.Value.Mode
		p.Decision = &Decision{Sequence: e.Message.Sequence, ReceivedAt: e.Message.ReceivedAt, PlacementDecision: e.Value}
	}
	for _, e := range Entries[*schemas.Placement](s, events.FamilyHub) {
		get(e.Value.Namespace, e.Value.Name).observe(e.Value)
	}
	for _, e := range Entries[*schemas.Receipt](s, events.FamilyReceipt) {
		p := byKey[e.Subject.Namespace+"/"+e.Subject.Name]
		if p != nil && e.Subject.Kind == events.KindPlacement {
			p.Receipt = &Receipt{ReceivedAt: e.Message.ReceivedAt, Receipt: e.Value}
		}
	}
	placements := make([]Placement, 0, len(byKey))
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		placements = append(placements, *byKey[key])
	}
	return placements
}

// observe takes the hub's word on the mode, which may be newer than the last
// decision's.
func (p *Placement) observe(seen *schemas.Placement) {
	p.OnHub, p.Deleting = true, seen.Deleting
	switch {
	case !seen.Direct:
		p.Mode = schemas.ModeNative
	case p.Mode != schemas.ModeShadow:
		p.Mode = schemas.ModeDirect
	}
}
