package schemas

// API version, kind and name of the fleet's placement policy.
const (
	PlacementPolicyAPIVersion = "spokewire.dev/v1alpha1"
	PlacementPolicyKind       = "PlacementPolicy"
	// DefaultPolicyName is the one name that a PlacementPolicy may have.
	DefaultPolicyName = "default"
)

// MaxPolicyTime bounds the durations of a policy, in hours: what flap control
// remembers should not outlive the log.
const MaxPolicyTime = 168

// PlacementPolicy says how direct Placements are decided that do not say it
// by annotations of their own.
type PlacementPolicy struct {
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"`
	Metadata   Metadata            `json:"metadata"`
	Spec       PlacementPolicySpec `json:"spec"`
}

// PlacementPolicySpec is the settings. What is absent is off, or the built-in
// default.
type PlacementPolicySpec struct {
	// DeadBand is how much more than that a challenger's total must lead to
	// displace a selected cluster. Default 0.
	DeadBand *int64 `json:"deadBand,omitempty"`
	// DecisiveLead is how much more than that a lead must be to act at once,
	// whatever the window, the cooldown and the dwell say. 0 is off.
	DecisiveLead *int64 `json:"decisiveLead,omitempty"`
	// StabilisationWindow is for how long a cluster must stay behind, without
	// a break, before it is dropped. 0 is off.
	StabilisationWindow *Duration `json:"stabilisationWindow,omitempty"`
	// ChangeBudget is how many clusters may be dropped for better ones in an
	// interval.
	ChangeBudget *ChangeBudget `json:"changeBudget,omitempty"`
	// Cooldown is for how long after a move no cluster is dropped for a better
	// one. 0 is off.
	Cooldown *Duration `json:"cooldown,omitempty"`
	// MinimumDwell is for how long a cluster stays at least once it is
	// selected. 0 is off.
	MinimumDwell *Duration `json:"minimumDwell,omitempty"`
	// StalePolicy is hold, exclude, worst or zero. Default hold.
	StalePolicy string `json:"stalePolicy,omitempty"`
	// StaleGrace is for how long a selected cluster keeps a score that has
	// expired. Default 30s under hold, else 0.
	StaleGrace *Duration `json:"staleGrace,omitempty"`
}

// ChangeBudget allows so many moves in each interval.
type ChangeBudget struct {
	// Moves 0 is off.
	Moves    int      `json:"moves"`
	Interval Duration `json:"interval"`
}

// Validate checks the frame and each setting by itself. Settings that
// contradict each other are refused by apply, and show in the Placements.
func (p *PlacementPolicy) Validate() error {
	if err := checkKind(p.APIVersion, p.Kind, PlacementPolicyAPIVersion, PlacementPolicyKind); err != nil {
		return err
	}
	if p.Metadata.Name != DefaultPolicyName {
		return fieldErrorf("metadata.name", "is %q, want %s: there is one policy for the fleet, and annotations for each Placement", p.Metadata.Name, DefaultPolicyName)
	}
	return p.Spec.validate()
}

func (s *PlacementPolicySpec) validate() error {
	for _, lead := range []struct {
		field string
		value *int64
	}{{"spec.deadBand", s.DeadBand}, {"spec.decisiveLead", s.DecisiveLead}} {
		if lead.value != nil && (*lead.value < 0 || *lead.value > MaxLead) {
			return fieldErrorf(lead.field, "is %d, want 0 to %d", *lead.value, MaxLead)
		}
	}
	for _, time := range []struct {
		field string
		value *Duration
	}{
		{"spec.stabilisationWindow", s.StabilisationWindow}, {"spec.cooldown", s.Cooldown},
		{"spec.minimumDwell", s.MinimumDwell},
	} {
		if time.value != nil && !time.value.withinPolicy() {
			return fieldErrorf(time.field, "is %s, want 0s to %dh", time.value, MaxPolicyTime)
		}
	}
	if s.StaleGrace != nil && *s.StaleGrace < 0 {
		return fieldErrorf("spec.staleGrace", "is %s, want 0s or more", s.StaleGrace)
	}
	switch s.StalePolicy {
	case "", "hold", "exclude", "worst", "zero":
	default:
		return fieldErrorf("spec.stalePolicy", "is %q, want hold, exclude, worst or zero", s.StalePolicy)
	}
	if s.ChangeBudget == nil {
		return nil
	}
	return s.ChangeBudget.validate("spec.changeBudget")
}

// MaxLead bounds a lead: more than any two totals can be apart, for the
// weights that OCM allows and some hundreds of terms.
const MaxLead = 1_000_000

// MaxBudget bounds the moves of a change budget.
const MaxBudget = 100_000

func (b *ChangeBudget) validate(field string) error {
	switch {
	case b.Moves < 0 || b.Moves > MaxBudget:
		return fieldErrorf(field+".moves", "is %d, want 0 to %d", b.Moves, MaxBudget)
	case b.Interval <= 0 || !b.Interval.withinPolicy():
		return fieldErrorf(field+".interval", "is %s, want more than 0s, and at most %dh", b.Interval, MaxPolicyTime)
	}
	return nil
}
