package schemas_test

// flapCases are those of flap control.
func flapCases() map[string]badCase {
	return map[string]badCase{
		"dev.spokewire.config.placementpolicy.deleted.v1/missing":     {wantField: "name"},
		"dev.spokewire.config.placementpolicy.deleted.v1/name":        {wantField: "name"},
		"dev.spokewire.config.placementpolicy.requested.v1/dead-band": {wantField: "spec.deadBand"},
		"dev.spokewire.config.placementpolicy.requested.v1/decisive":  {wantField: "spec.decisiveLead"},
		"dev.spokewire.config.placementpolicy.requested.v1/window":    {wantField: "spec.stabilisationWindow", schemaTakesIt: true},
		"dev.spokewire.config.placementpolicy.requested.v1/cooldown":  {wantField: "spec.cooldown"},
		"dev.spokewire.config.placementpolicy.requested.v1/grace":     {wantField: "spec.staleGrace"},
		"dev.spokewire.config.placementpolicy.requested.v1/stale":     {wantField: "spec.stalePolicy"},
		"dev.spokewire.config.placementpolicy.requested.v1/budget":    {wantField: "spec.changeBudget.moves"},
		"dev.spokewire.config.placementpolicy.requested.v1/interval":  {wantField: "spec.changeBudget.interval", schemaTakesIt: true},
		"dev.spokewire.config.placementpolicy.requested.v1/typo":      {wantField: "spec.deadband"},
		"dev.spokewire.config.placementpolicy.requested.v1/name":      {wantField: "metadata.name"},
		"dev.spokewire.config.placementpolicy.requested.v1/kind":      {wantField: "kind"},
		"dev.spokewire.config.placementpolicy.requested.v1/version":   {wantField: "apiVersion"},
		"dev.spokewire.placement.decided.v1/flap-empty":               {wantField: "flap.behind[0].clusters"},
		"dev.spokewire.placement.decided.v1/flap-moves":               {wantField: "flap.moves"},
		"dev.spokewire.placement.decided.v1/flap-count":               {wantField: "flap.moves[0].count"},
		"dev.spokewire.placement.decided.v1/flap-many":                {wantField: "flap.selected", schemaTakesIt: true},
	}
}
