package inventory

import (
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Policy is a PlacementPolicy, and when it was applied.
type Policy struct {
	Name      string    `json:"name"`
	AppliedAt time.Time `json:"appliedAt"`
	schemas.PlacementPolicySpec
}

// Policies lists the PlacementPolicies of SW_CONFIG, sorted by name.
func Policies(s *State) []Policy {
	policies := []Policy{}
	for _, e := range Entries[*schemas.PlacementPolicy](s, events.FamilyConfig) {
		policies = append(policies, Policy{Name: e.Value.Metadata.Name, AppliedAt: e.Message.ReceivedAt, PlacementPolicySpec: e.Value.Spec})
	}
	return policies
}
