package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Obstacle is something that keeps a cluster from being eligible.
type Obstacle struct {
	schemas.Change
	// Fix takes it out of the way, for who wants to know what would follow.
	// Nil where no change of the cluster does.
	Fix func(*schemas.Cluster)
	// Score is set where the obstacle is that there is no good score.
	Score *Coordinate
	// Cordon is set where the obstacle is that the cluster is cordoned.
	Cordon bool
}

// Obstacles returns all that keeps the cluster from being eligible, in the
// order of the steps; of several predicates, what is missing of the one that
// comes closest. It is for the state that the last Refresh has seen.
func (r *Ranking) Obstacles(name string) []Obstacle {
	id, known := r.fleet.ids[name]
	if !known || r.fleet.clusters[id] == nil {
		return []Obstacle{{Change: change(schemas.ChangeCluster, name, "", "", "a ManagedCluster of this name on the hub")}}
	}
	if int(id) >= len(r.verdicts) || r.verdicts[id].reason == eligible {
		return nil
	}
	c := r.fleet.clusters[id]
	var all []Obstacle
	if !r.scope.holds(c) {
		all = append(all, r.outOfScope(c))
	}
	if c.source.Deleting {
		all = append(all, Obstacle{Change: change(schemas.ChangeCluster, name, "", "", "the ManagedCluster must not be on its way out")})
	}
	if problem := r.problem(); problem != nil {
		all = append(all, Obstacle{Change: change(schemas.ChangePlacement, r.placement.Key().String(), "", "", problem.Error())})
		return all
	}
	all = append(all, r.unmatched(id, c)...)
	all = append(all, r.untolerated(id, c)...)
	if r.verdicts[id].reason == cordoned {
		all = append(all, r.shut(id, name))
	}
	return append(all, r.unscored(id)...)
}

func change(kind, name, have, want, message string) schemas.Change {
	return schemas.Change{Kind: kind, Name: name, Have: have, Want: want, Message: message}
}

// outOfScope names the sets that would do. A cluster joins an exclusive one
// by a label.
func (r *Ranking) outOfScope(c *cluster) Obstacle {
	if len(r.scope.sets) == 0 {
		return Obstacle{Change: change(schemas.ChangePlacement, r.placement.Key().String(), "", "", r.satisfied().Message)}
	}
	have := c.source.Labels[clusterv1beta2.ClusterSetLabel]
	for _, set := range r.scope.sets {
		if set.selector.String() == clusterv1beta2.ClusterSetLabel+"="+set.name {
			message := fmt.Sprintf("label %s must be %s", clusterv1beta2.ClusterSetLabel, anyOf(r.scope.names))
			return Obstacle{
				Change: change(schemas.ChangeSet, clusterv1beta2.ClusterSetLabel, have, set.name, message),
				Fix:    joined(clusterv1beta2.ClusterSetLabel, set.name),
			}
		}
	}
	set := r.scope.sets[0]
	return Obstacle{Change: change(schemas.ChangeSet, set.name, have, set.selector.String(),
		fmt.Sprintf("must be in the ManagedClusterSet %s, which selects %s", set.name, set.selector))}
}

// unmatched returns what is missing of the predicate that comes closest.
func (r *Ranking) unmatched(id int32, c *cluster) []Obstacle {
	if matchesAny(r.placement.predicates, c) && r.verdicts[id].reason != notMatched {
		return nil
	}
	var best []Obstacle
	for i, p := range r.placement.Spec.Predicates {
		required := p.RequiredClusterSelector
		missing := missingOf(schemas.ChangeLabel, required.LabelSelector, c.labels)
		missing = append(missing, missingOf(schemas.ChangeClaim, metav1.LabelSelector{MatchExpressions: required.ClaimSelector.MatchExpressions}, c.claims)...)
		if len(missing) == 0 {
			missing = append(missing, expressionsOf(required)...)
		}
		if i == 0 || len(missing) < len(best) {
			best = missing
		}
	}
	return best
}

func expressionsOf(required clusterv1beta1.ClusterSelector) []Obstacle {
	var out []Obstacle
	for _, text := range required.CelSelector.CelExpressions {
		out = append(out, Obstacle{Change: change(schemas.ChangeExpression, text, "", "true", "celSelector must be true of it: "+text)})
	}
	return out
}

// missingOf tells a selector's requirements apart.
func missingOf(kind string, s metav1.LabelSelector, have labels.Set) []Obstacle {
	requirements := slices.Clone(s.MatchExpressions)
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		requirements = append(requirements, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{s.MatchLabels[key]}})
	}
	var out []Obstacle
	for _, q := range requirements {
		selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{q}})
		if err == nil && !selector.Matches(have) {
			out = append(out, unmet(kind, q, have))
		}
	}
	return out
}

func unmet(kind string, q metav1.LabelSelectorRequirement, have labels.Set) Obstacle {
	value, present := have[q.Key]
	is := "it is " + value
	if !present {
		is = "it has none"
	}
	set, want := true, ""
	var must string
	switch q.Operator {
	case metav1.LabelSelectorOpIn:
		want, must = q.Values[0], "must be "+anyOf(q.Values)
	case metav1.LabelSelectorOpExists:
		must = "must be there"
	case metav1.LabelSelectorOpNotIn:
		set, must = false, "must not be "+anyOf(q.Values)
	default:
		set, must = false, "must not be there"
	}
	o := Obstacle{Change: change(kind, q.Key, value, want, fmt.Sprintf("%s %s %s, %s", kind, q.Key, must, is))}
	o.Fix = func(c *schemas.Cluster) { c.Labels = edited(c.Labels, q.Key, want, set) }
	if kind == schemas.ChangeClaim {
		o.Fix = func(c *schemas.Cluster) { c.Claims = edited(c.Claims, q.Key, want, set) }
	}
	return o
}

func joined(key, value string) func(*schemas.Cluster) {
	return func(c *schemas.Cluster) { c.Labels = edited(c.Labels, key, value, true) }
}

func edited(m map[string]string, key, value string, set bool) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	if delete(m, key); set {
		m[key] = value
	}
	return m
}

func anyOf(values []string) string { return strings.Join(values, " or ") }

// untolerated returns every taint that keeps the cluster away.
func (r *Ranking) untolerated(id int32, c *cluster) []Obstacle {
	var out []Obstacle
	for i := range c.source.Taints {
		taint := c.source.Taints[i]
		refused, _ := tolerate([]schemas.Taint{taint}, r.placement.Spec.Tolerations, r.selectedBefore(id), r.now)
		if refused == nil {
			continue
		}
		text := taintText(&taint)
		out = append(out, Obstacle{
			Change: change(schemas.ChangeTaint, text, text, "", "taint "+text+" must go, or the Placement tolerate it"),
			Fix: func(c *schemas.Cluster) {
				c.Taints = slices.DeleteFunc(slices.Clone(c.Taints), func(t schemas.Taint) bool { return taintText(&t) == text })
			},
		})
	}
	return out
}

// shut is the cluster's cordon.
func (r *Ranking) shut(id int32, name string) Obstacle {
	return Obstacle{Cordon: true, Change: change(schemas.ChangeCordon, name, r.fleet.cordons[id].spec.State, schemas.CordonLifted,
		r.whyCordoned(id)+", which must end: spokewire uncordon "+name)}
}

// unscored returns the scores that the cluster lacks and may not lack.
func (r *Ranking) unscored(id int32) []Obstacle {
	var out []Obstacle
	for _, c := range r.placement.Coordinates() {
		t := &term{kind: kindAddOn, resource: c.Resource, score: c.Score, weight: c.Weight, name: "AddOn/" + c.Resource + "/" + c.Score}
		a := r.addOn(t, id, r.selectedBefore(id))
		if a.state.counts() {
			continue
		}
		out = append(out, Obstacle{
			Change: change(schemas.ChangeScore, c.Resource+"/"+c.Score, "", "", fmt.Sprintf("score %s/%s %s: it needs one that holds", c.Resource, c.Score, a.text())),
			Score:  &c,
		})
	}
	return out
}
