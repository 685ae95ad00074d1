package placement

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Placement is a schemas.Placement with its spec parsed and compiled.
type Placement struct {
	Object schemas.Placement
	Spec   clusterv1beta1.PlacementSpec

	predicates []selectors
	terms      []term
	spread     []spreadTerm
	scoreLimit time.Duration
	own        schemas.PlacementPolicySpec // what the annotations say
	unreadable error                       // of the annotations
	wrongLimit error                       // the default is in force

	// What is wrong with the spec, by the step that trips over it.
	wrongName, wrongPredicates, wrongTolerations, wrongPolicy error
}

// Parse compiles p. It returns a *schemas.FieldError where the spec is not
// that of a Placement at all; a spec that is one, but asks for something
// impossible, becomes a decision that says so.
func Parse(p schemas.Placement) (*Placement, error) {
	out := &Placement{Object: p}
	if err := json.Unmarshal(p.Spec, &out.Spec); err != nil {
		return nil, &schemas.FieldError{Field: "spec", Reason: fmt.Sprintf("of Placement %s/%s is not a PlacementSpec: %v", p.Namespace, p.Name, err)}
	}
	out.wrongName = checkName(p.Name)
	out.predicates, out.wrongPredicates = compilePredicates(out.Spec.Predicates)
	out.wrongTolerations = checkTolerations(out.Spec.Tolerations)
	out.terms, out.wrongPolicy = termsOf(out.Spec.PrioritizerPolicy)
	if out.wrongPolicy == nil {
		out.wrongPolicy = out.checkRest()
	}
	out.own, out.unreadable = readAnnotations(p.Annotations)
	out.scoreLimit, out.wrongLimit = scoreLimit(out.Spec.ScoreRateLimit)
	return out, nil
}

// checkName refuses a name that no PlacementDecision can carry as its label.
func checkName(name string) error {
	if len(name) <= validation.LabelValueMaxLength {
		return nil
	}
	return fmt.Errorf("metadata.name has %d characters, and PlacementDecisions carry it as a label, which has %d at most: create the Placement under a shorter name",
		len(name), validation.LabelValueMaxLength)
}

// Key names the Placement.
func (p *Placement) Key() Key { return Key{p.Object.Namespace, p.Object.Name} }

// AnyResource stands for all scorers, where a CEL expression computes the
// name of the one that it reads.
const AnyResource = "*"

// Resources returns the names of the scorers (AddOnPlacementScores) that the
// Placement's prioritizers and CEL expressions read, AnyResource among them
// where they are not known.
func (p *Placement) Resources() []string {
	var names []string
	for _, t := range p.terms {
		if t.kind == kindAddOn {
			names = append(names, t.resource)
		}
	}
	for _, s := range p.predicates {
		if s.cel != nil {
			names = append(names, s.cel.Resources...)
			if s.cel.AnyResource {
				names = append(names, AnyResource)
			}
		}
	}
	return names
}

func (p *Placement) checkRest() (err error) {
	if n := p.Spec.NumberOfClusters; n != nil && *n < 0 {
		return fmt.Errorf("spec.numberOfClusters is %d: write 0 or more", *n)
	}
	if p.spread, err = spreadOf(p.Spec.SpreadPolicy); err != nil {
		return err
	}
	switch p.Spec.SortBy {
	case "", clusterv1beta1.PlacementSortByClusterName, clusterv1beta1.PlacementSortByScore:
	default:
		return fmt.Errorf("spec.sortBy is %q: write ClusterName or Score", p.Spec.SortBy)
	}
	return checkGroups(p.Spec.DecisionStrategy.GroupStrategy)
}

// defaultScoreLimit is that of the CRD.
const defaultScoreLimit = time.Minute

var scoreLimitPattern = regexp.MustCompile(`^[0-9]+[hms]$`)

func scoreLimit(text string) (time.Duration, error) {
	if text == "" {
		return defaultScoreLimit, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || !scoreLimitPattern.MatchString(text) {
		return defaultScoreLimit, fmt.Errorf("spec.scoreRateLimit is %q: write a number with h, m or s, for instance 1m; %s is in force", text, defaultScoreLimit)
	}
	return d, nil
}
