package bridge

import clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

// fullSpec is a PlacementSpec that says every weight. OCM's type leaves one of 0
// out when it is written, which switches a prioritizer off; left out, it is
// read as the API server's default, 1. An outer field takes the place of the
// embedded one of its name.
type fullSpec struct {
	clusterv1beta1.PlacementSpec
	PrioritizerPolicy policy `json:"prioritizerPolicy"`
}

type policy struct {
	clusterv1beta1.PrioritizerPolicy
	Configurations []prioritizer `json:"configurations,omitempty"`
}

type prioritizer struct {
	clusterv1beta1.PrioritizerConfig
	Weight int32 `json:"weight"`
}

func wholeSpec(s clusterv1beta1.PlacementSpec) fullSpec {
	whole := fullSpec{PlacementSpec: s, PrioritizerPolicy: policy{PrioritizerPolicy: s.PrioritizerPolicy}}
	for _, c := range s.PrioritizerPolicy.Configurations {
		whole.PrioritizerPolicy.Configurations = append(whole.PrioritizerPolicy.Configurations, prioritizer{c, c.Weight})
	}
	return whole
}
