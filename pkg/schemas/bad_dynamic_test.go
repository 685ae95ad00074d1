package schemas_test

// dynamicCases are those of OCM's dynamic scoring.
func dynamicCases() map[string]badCase {
	cases := map[string]badCase{
		"dev.spokewire.hub.dynamicscorer.observed.v1/uid":              {wantField: "uid"},
		"dev.spokewire.hub.dynamicscorer.observed.v1/unknown":          {wantField: "spec.source.kind"},
		"dev.spokewire.hub.dynamicscoringconfig.observed.v1/mask":      {wantField: "masks[0].scoreName"},
		"dev.spokewire.hub.dynamicscoringconfig.observed.v1/namespace": {wantField: "namespace"},
		"dev.spokewire.config.dynamicscorer.requested.v1/version":      {wantField: "apiVersion"},
		"dev.spokewire.config.dynamicscorer.requested.v1/namespace":    {wantField: "metadata.namespace"},
		"dev.spokewire.config.dynamicscorer.requested.v1/sync":         {wantField: "spec.configSyncMode"},
		"dev.spokewire.config.dynamicscorer.requested.v1/location":     {wantField: "spec.location"},
		"dev.spokewire.config.dynamicscorer.requested.v1/destination":  {wantField: "spec.scoreDestination"},
		"dev.spokewire.config.dynamicscorer.requested.v1/url":          {wantField: "spec.configURL"},
		"dev.spokewire.config.dynamicscorer.requested.v1/format":       {wantField: "spec.scoreDimensionFormat"},
		"dev.spokewire.config.dynamicscoringconfig.requested.v1/name":  {wantField: "metadata.name"},
		"dev.spokewire.config.dynamicscoringconfig.requested.v1/kind":  {wantField: "kind"},
		"dev.spokewire.config.dynamicscoringconfig.requested.v1/mask":  {wantField: "spec.masks[0].clusterName"},
		"dev.spokewire.status.dynamicscorer.reported.v1/health":        {wantField: "health"},
		"dev.spokewire.status.dynamicscorer.reported.v1/holder":        {wantField: "holder"},
		"dev.spokewire.status.dynamicscorer.reported.v1/until":         {wantField: "heldUntil"},
		"dev.spokewire.status.dynamicscorer.reported.v1/clusters":      {wantField: "clusters"},
		"dev.spokewire.status.dynamicscorer.reported.v1/message":       {wantField: "message"},
	}
	for _, kind := range []string{"hub.dynamicscorer", "hub.dynamicscoringconfig", "config.dynamicscorer", "config.dynamicscoringconfig", "status.dynamicscorer"} {
		cases["dev.spokewire."+kind+".deleted.v1/name"] = badCase{wantField: "name"}
	}
	return cases
}
