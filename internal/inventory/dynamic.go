package inventory

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Dynamic is a DynamicScorer and how it fares.
type Dynamic struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// OnHub is false for one that was asked for over the bus.
	OnHub bool                      `json:"onHub"`
	Spec  schemas.DynamicScorerSpec `json:"spec"`
	// Health is Active, Inactive or Unknown.
	Health string `json:"health"`
	// Reason and Message say what is wrong, empty for nothing.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Config is what its configuration endpoint said last.
	Config *schemas.SyncedConfig `json:"config,omitempty"`
	// Clusters is how many it is to score, Failing of how many by reason the
	// last attempt failed; the last good score stands until it expires.
	Clusters int            `json:"clusters"`
	Failing  map[string]int `json:"failing,omitempty"`

	scoreName string
}

// Path is NAMESPACE/NAME.
func (d *Dynamic) Path() string { return d.Namespace + "/" + d.Name }

// dynamics lists the DynamicScorers of SW_HUB and SW_CONFIG, with what
// SW_STATUS says of them, sorted by namespace and name.
func dynamics(s *State, now time.Time) []*Dynamic {
	byPath := map[string]*Dynamic{}
	for _, e := range Entries[*schemas.DynamicScorerRequest](s, events.FamilyConfig) {
		d := &Dynamic{Namespace: e.Value.Metadata.Namespace, Name: e.Value.Metadata.Name, Spec: e.Value.Spec}
		byPath[d.Path()] = d
	}
	uids := map[string]string{}
	for _, e := range Entries[*schemas.DynamicScorer](s, events.FamilyHub) {
		d := &Dynamic{Namespace: e.Value.Namespace, Name: e.Value.Name, OnHub: true, Spec: e.Value.Spec}
		byPath[d.Path()], uids[d.Path()] = d, e.Value.UID
	}
	for _, d := range byPath {
		d.Health, d.Reason, d.Message = schemas.HealthUnknown, bridge.ReasonNotAsked, "no scorer service has said anything of it: does one run?"
	}
	for _, e := range Entries[*schemas.ScorerStatus](s, events.FamilyStatus) {
		if d := byPath[e.Value.Namespace+"/"+e.Value.Name]; d != nil && uids[d.Path()] == e.Value.UID {
			d.tell(e.Value, now)
		}
	}
	out := make([]*Dynamic, 0, len(byPath))
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		out = append(out, byPath[path])
	}
	return out
}

// tell takes what was said of d last.
func (d *Dynamic) tell(s *schemas.ScorerStatus, now time.Time) {
	health, condition, _ := bridge.ScorerCondition(s, now)
	d.Health, d.Reason, d.Message = health, condition.Reason, condition.Message
	if condition.Status == metav1.ConditionTrue {
		d.Reason, d.Message = "", ""
	}
	d.Config, d.Clusters, d.Failing, d.scoreName = s.Config, s.Clusters, s.Failing, s.ScoreName
}
