package placement

import (
	"fmt"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

type termKind uint8

const (
	kindSteady termKind = iota
	kindBalance
	kindResource
	kindAddOn
)

// term is one prioritizer with its weight.
type term struct {
	name   string // as explained
	kind   termKind
	weight int64
	// amount is for kindResource, resource and score are for kindAddOn.
	amount          resourceKind
	resource, score string
}

const (
	builtInSteady  = "Steady"
	builtInBalance = "Balance"
)

// maxWeight is that of the CRD, either way.
const maxWeight = 10

// termsOf returns the prioritizers that count, in the order of the policy.
// Additive starts from Balance and Steady with weight 1. A built-in that is
// named twice has its last weight; every mention of an AddOn score counts, as
// in OCM. Weight 0 switches a prioritizer off.
func termsOf(policy clusterv1beta1.PrioritizerPolicy) ([]term, error) {
	var configured []weighted
	switch policy.Mode {
	case clusterv1beta1.PrioritizerPolicyModeExact:
	case "", clusterv1beta1.PrioritizerPolicyModeAdditive:
		for _, name := range []string{builtInBalance, builtInSteady} {
			c := clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: name}
			configured = append(configured, weighted{ScoreCoordinate: c, weight: 1})
		}
	default:
		return nil, fmt.Errorf("spec.prioritizerPolicy.mode is %q: write Additive or Exact", policy.Mode)
	}
	for i, c := range policy.Configurations {
		if c.ScoreCoordinate == nil {
			return nil, fmt.Errorf("spec.prioritizerPolicy.configurations[%d].scoreCoordinate is missing", i)
		}
		if c.Weight < -maxWeight || c.Weight > maxWeight {
			return nil, fmt.Errorf("spec.prioritizerPolicy.configurations[%d].weight is %d: write %d to %d", i, c.Weight, -maxWeight, maxWeight)
		}
		configured = override(configured, weighted{*c.ScoreCoordinate, c.Weight, i})
	}
	var terms []term
	for _, w := range configured {
		if w.weight == 0 {
			continue
		}
		t, err := w.term()
		if err != nil {
			return nil, err
		}
		terms = append(terms, t)
	}
	return terms, nil
}

type weighted struct {
	clusterv1beta1.ScoreCoordinate
	weight int32
	at     int // in the configurations
}

// override replaces the same built-in, or appends. Coordinates that carry an
// AddOn are never the same: OCM tells them apart by address.
func override(all []weighted, w weighted) []weighted {
	for i := range all {
		same := all[i].Type == w.Type && all[i].BuiltIn == w.BuiltIn && all[i].AddOn == nil && w.AddOn == nil
		if same {
			all[i] = w
			return all
		}
	}
	return append(all, w)
}

func (w weighted) field() string {
	return fmt.Sprintf("spec.prioritizerPolicy.configurations[%d].scoreCoordinate", w.at)
}

func (w weighted) term() (term, error) {
	t := term{name: w.BuiltIn, weight: int64(w.weight)}
	if w.Type == clusterv1beta1.ScoreCoordinateTypeAddOn {
		if w.AddOn == nil {
			return t, fmt.Errorf("%s.addOn is missing, and the type is AddOn: write resourceName and scoreName", w.field())
		}
		t.kind, t.resource, t.score = kindAddOn, w.AddOn.ResourceName, w.AddOn.ScoreName
		t.name = "AddOn/" + t.resource + "/" + t.score
		return t, nil
	}
	switch w.BuiltIn {
	case builtInSteady:
		t.kind = kindSteady
	case builtInBalance:
		t.kind = kindBalance
	case builtInCPU:
		t.kind, t.amount = kindResource, amountCPU
	case builtInMemory:
		t.kind, t.amount = kindResource, amountMemory
	default:
		return t, fmt.Errorf("%s.builtIn is %q: write Steady, Balance, ResourceAllocatableCPU or ResourceAllocatableMemory", w.field(), w.BuiltIn)
	}
	return t, nil
}
