package schemas_test

// cordonCases are those of cordons and rebalances.
func cordonCases() map[string]badCase {
	return map[string]badCase{
		"dev.spokewire.config.cordon.requested.v1/state":         {wantField: "spec.state"},
		"dev.spokewire.config.cordon.requested.v1/stateless":     {wantField: "spec.state"},
		"dev.spokewire.config.cordon.requested.v1/force":         {wantField: "spec.force"},
		"dev.spokewire.config.cordon.requested.v1/until":         {wantField: "spec.until"},
		"dev.spokewire.config.cordon.requested.v1/by":            {wantField: "spec.by"},
		"dev.spokewire.config.cordon.requested.v1/reason":        {wantField: "spec.reason"},
		"dev.spokewire.config.cordon.requested.v1/name":          {wantField: "metadata.name"},
		"dev.spokewire.config.cordon.requested.v1/kind":          {wantField: "kind"},
		"dev.spokewire.config.cordon.requested.v1/version":       {wantField: "apiVersion"},
		"dev.spokewire.config.cordon.requested.v1/typo":          {wantField: "spec.untill"},
		"dev.spokewire.config.rebalance.requested.v1/id":         {wantField: "spec.id"},
		"dev.spokewire.config.rebalance.requested.v1/long-id":    {wantField: "spec.id"},
		"dev.spokewire.config.rebalance.requested.v1/zero":       {wantField: "spec.validFor"},
		"dev.spokewire.config.rebalance.requested.v1/long":       {wantField: "spec.validFor", schemaTakesIt: true},
		"dev.spokewire.config.rebalance.requested.v1/by":         {wantField: "spec.by"},
		"dev.spokewire.config.rebalance.requested.v1/namespace":  {wantField: "metadata.namespace"},
		"dev.spokewire.config.rebalance.requested.v1/kind":       {wantField: "kind"},
		"dev.spokewire.config.rebalance.requested.v1/version":    {wantField: "apiVersion"},
		"dev.spokewire.whatif.asked.v1/cordon":                   {wantField: "cordon[0].state"},
		"dev.spokewire.whatif.asked.v1/cordon-twice":             {wantField: "cordon[1].cluster", schemaTakesIt: true},
		"dev.spokewire.placement.decided.v1/rebalance-id":        {wantField: "rebalance.id"},
		"dev.spokewire.placement.decided.v1/rebalance-remaining": {wantField: "rebalance.remaining"},
		"dev.spokewire.config.cordon.deleted.v1/missing":         {wantField: "name"},
		"dev.spokewire.config.cordon.deleted.v1/name":            {wantField: "name"},
	}
}
