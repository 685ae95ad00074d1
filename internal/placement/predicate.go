package placement

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/expression"
)

// selectors is one predicate: all must match.
type selectors struct {
	labels, claims labels.Selector
	cel            *expression.Selector // nil where there is no expression
}

// match is without the expressions.
func (s selectors) match(c *cluster) bool {
	return s.labels.Matches(c.labels) && s.claims.Matches(c.claims)
}

// matchesAny reports whether the cluster matches one of the predicates, which
// are without expressions; with none there is nothing to match.
func matchesAny(predicates []selectors, c *cluster) bool {
	for _, p := range predicates {
		if p.match(c) {
			return true
		}
	}
	return len(predicates) == 0
}

// compiler takes milliseconds to make.
var compiler = sync.OnceValues(expression.NewCompiler)

func compilePredicates(predicates []clusterv1beta1.ClusterPredicate) ([]selectors, error) {
	out := make([]selectors, 0, len(predicates))
	for i, p := range predicates {
		required := p.RequiredClusterSelector
		field := fmt.Sprintf("spec.predicates[%d].requiredClusterSelector", i)
		s, err := compileSelectors(field, required.LabelSelector, required.ClaimSelector)
		if err != nil {
			return nil, err
		}
		if expressions := required.CelSelector.CelExpressions; len(expressions) > 0 {
			c, err := compiler()
			if err != nil {
				return nil, err
			}
			if s.cel, err = c.Compile(field+".celSelector.celExpressions", expressions); err != nil {
				return nil, err
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func compileSelectors(field string, label metav1.LabelSelector, claim clusterv1beta1.ClusterClaimSelector) (selectors, error) {
	var out selectors
	var err error
	if out.labels, err = metav1.LabelSelectorAsSelector(&label); err != nil {
		return out, fmt.Errorf("%s.labelSelector: %w", field, err)
	}
	if out.claims, err = metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: claim.MatchExpressions}); err != nil {
		return out, fmt.Errorf("%s.claimSelector: %w", field, err)
	}
	return out, nil
}
