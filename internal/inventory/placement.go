package inventory

import (
	"maps"
	"slices"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
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
	// Shadow is what Spokewire would decide of a Placement in shadow, and
	// Agreement how that compares with what OCM does.
	Shadow    *Decision            `json:"shadow,omitempty"`
	Agreement *placement.Agreement `json:"agreement,omitempty"`
	// Receipt is the bridge's last word, if it is about what is shown here:
	// the decision, or a request that came with or after it.
	Receipt *Receipt `json:"receipt,omitempty"`
	// Waiting is true while the decision is the hub's to take and the bridge
	// has not answered it.
	Waiting bool `json:"waiting,omitempty"`
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
		get(e.Value.Placement.Namespace, e.Value.Placement.Name).decide(&e)
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
	for _, p := range byKey {
		p.settle()
	}
	placements := make([]Placement, 0, len(byKey))
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		placements = append(placements, *byKey[key])
	}
	return placements
}

// decide takes one of its last decisions: the one that is carried out, or the
// one in shadow.
func (p *Placement) decide(e *Entry[*schemas.PlacementDecision]) {
	d := &Decision{Sequence: e.Message.Sequence, ReceivedAt: e.Message.ReceivedAt, PlacementDecision: e.Value}
	p.Mode = d.Mode // until the hub says it; a shadow comes last
	if e.Subject.Kind == events.KindShadow {
		p.Shadow = d
	} else {
		p.Decision = d
	}
}

// observe takes the hub's word on the mode, which may be newer than the last
// decision's.
func (p *Placement) observe(seen *schemas.Placement) {
	p.OnHub, p.Deleting = true, seen.Deleting
	p.Mode = seen.Mode()
}

// settle drops a receipt that is older than the decision, and works out
// whether there is one to wait for.
func (p *Placement) settle() {
	if p.Mode != schemas.ModeShadow {
		p.Shadow = nil
	}
	if p.Shadow != nil && p.Decision != nil {
		a := placement.Agree(placement.SelectedNames(p.Decision.PlacementDecision), placement.SelectedNames(p.Shadow.PlacementDecision))
		p.Agreement = &a
	}
	if p.Decision == nil {
		return
	}
	if p.Receipt != nil && !p.Receipt.covers(p) {
		p.Receipt = nil
	}
	p.Waiting = p.Receipt == nil && p.Decision.Mode == schemas.ModeDirect && p.Mode == schemas.ModeDirect
}

// covers reports whether the bridge said r with p's decision at hand. The
// receipts of one Placement share a subject, so an answer to a request may
// stand in the place of the one to the decision. One to a later decision than
// was read is news of it.
func (r *Receipt) covers(p *Placement) bool {
	if r.Subject == events.DecisionSubject(events.KindPlacement, p.Namespace, p.Name) {
		return r.Sequence >= p.Decision.Sequence
	}
	return !r.ReceivedAt.Before(p.Decision.ReceivedAt)
}
