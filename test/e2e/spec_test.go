package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
)

type edit = func(*clusterv1beta1.Placement)

func inCEL(expression string) edit {
	return func(p *clusterv1beta1.Placement) {
		p.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: []string{expression}},
		}}}
	}
}

// endless goes through a list within a list within a list, and so on, of
// cluster properties, which is to run for hours.
func endless() string {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 100), ",") + "]"
	inner := "managedCluster.metadata.name == ''"
	for i := range 5 {
		inner = fmt.Sprintf("%s.exists(x%d, %s)", list, i, inner)
	}
	return "!" + inner
}

// TestABadPlacementKeepsItsDecision turns sound Placements into bad ones on
// the hub: each says which field is wrong and why, keeps the clusters that it
// had, and holds up nobody.
func TestABadPlacementKeepsItsDecision(t *testing.T) {
	t.Parallel()
	y := startYard(t, func(*stack.Options) {})
	const misconfigured = clusterv1beta1.PlacementConditionMisconfigured
	cases := map[string]struct {
		change    edit
		condition string // default misconfigured
		says      []string
	}{
		"prioritizer": {
			change: func(p *clusterv1beta1.Placement) {
				p.Spec.PrioritizerPolicy.Configurations = []clusterv1beta1.PrioritizerConfig{{ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
					Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: "Weather",
				}, Weight: 1}}
			},
			says: []string{"spec.prioritizerPolicy.configurations[0].scoreCoordinate.builtIn", "Weather"},
		},
		"no-cel":     {change: inCEL("managedCluster.metadata."), says: []string{"celExpressions[0]"}},
		"failing":    {change: inCEL(`managedCluster.metadata.labels["nothing"] == "x"`), says: []string{"celExpressions[0]", "no such key"}},
		"endless":    {change: inCEL(endless()), says: []string{"celExpressions[0]", "cost"}},
		"settings":   {change: func(p *clusterv1beta1.Placement) { annotate("dead-band", "10")(p); annotate("decisive-lead", "5")(p) }, says: []string{"spokewire.dev/decisive-lead", "dead"}},
		"unreadable": {change: annotate("change-budget", "often"), says: []string{"spokewire.dev/change-budget", "often"}},
		"unbound": {
			change:    func(p *clusterv1beta1.Placement) { p.Spec.ClusterSets = []string{"loose"} },
			condition: clusterv1beta1.PlacementConditionSatisfied, says: []string{"loose", "bound"},
		},
		"groups": {
			change: func(p *clusterv1beta1.Placement) {
				group := clusterv1beta1.DecisionGroup{GroupName: "canary"}
				p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = []clusterv1beta1.DecisionGroup{group, group}
			},
			says: []string{"spec.decisionStrategy.groupStrategy.decisionGroups[1].groupName", "canary"},
		},
	}
	y.pulls(map[string]float64{"a": 95, "b": 85, "c": 75, "d": 65})
	y.place("sound", 2)
	for name := range cases {
		y.place(name, 2)
	}
	for name := range cases {
		y.selects(name, []string{"a", "b"}, anyDecision)
	}
	for name, c := range cases {
		must(t, y.edit(name, c.change))
	}
	for name, c := range cases {
		status := metav1.ConditionTrue
		if c.condition == "" {
			c.condition = misconfigured
		} else {
			status = metav1.ConditionFalse
		}
		y.says(name, c.condition, status, c.says...)
		y.selects(name, []string{"a", "b"}, anyDecision)
	}
	t.Run("a weight that the hub refuses", func(t *testing.T) {
		err := y.edit("sound", func(p *clusterv1beta1.Placement) { p.Spec.PrioritizerPolicy.Configurations[0].Weight = 11 })
		if err == nil || !strings.Contains(err.Error(), "spec.prioritizerPolicy.configurations[0].weight") {
			t.Errorf("the hub says %v, want it to name the weight", err)
		}
	})

	// The best are others now: who is sound moves, and nobody else.
	y.pulls(map[string]float64{"a": 1, "b": 2})
	y.selects("sound", []string{"c", "d"}, anyDecision)
	y.says("sound", misconfigured, metav1.ConditionFalse)
	for name := range cases {
		y.selects(name, []string{"a", "b"}, anyDecision)
		must(t, y.edit(name, func(p *clusterv1beta1.Placement) {
			p.Spec = bestBy(pull)
			two := int32(2)
			p.Spec.NumberOfClusters = &two
			p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
		}))
	}
	for name := range cases {
		y.selects(name, []string{"c", "d"}, anyDecision)
		y.says(name, misconfigured, metav1.ConditionFalse)
		y.says(name, clusterv1beta1.PlacementConditionSatisfied, metav1.ConditionTrue)
	}
}

// TestFieldsThatOCMIgnores has a Placement with spreadPolicy, sortBy and
// scoreRateLimit decided, and looks at its pages.
func TestFieldsThatOCMIgnores(t *testing.T) {
	t.Parallel()
	y := startYard(t, func(*stack.Options) {})
	y.pulls(map[string]float64{"a": 95, "b": 85, "c": 30, "d": 65})
	zones := func(when clusterv1beta1.UnsatisfiableMaxSkewAction) edit {
		return func(p *clusterv1beta1.Placement) {
			p.Spec.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{
				TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1, WhenUnsatisfiable: when,
			}}
		}
	}
	y.place("spread", 2, zones(clusterv1beta1.DoNotSchedule), func(p *clusterv1beta1.Placement) {
		p.Spec.SortBy, p.Spec.ScoreRateLimit = clusterv1beta1.PlacementSortByScore, "5h"
	})
	y.place("all", 4, func(p *clusterv1beta1.Placement) { p.Spec.ScoreRateLimit = "1s" })
	y.selects("spread", []string{"a", "d"}, anyDecision)
	y.pageOf("spread", clusterv1beta1.ClusterDecision{ClusterName: "a", Score: 95}, clusterv1beta1.ClusterDecision{ClusterName: "d", Score: 65})
	y.pageOf("all", score("a", 95), score("b", 85), score("c", 30), score("d", 65))

	// Scores alone: at once where the limit is short, and not where it is long.
	before := y.scoresOf("spread")
	y.pulls(map[string]float64{"a": 90, "d": 80})
	y.pageOf("all", score("a", 90), score("b", 85), score("c", 30), score("d", 80))
	y.pageOf("spread", score("a", 95), score("d", 65))
	if after := y.scoresOf("spread"); !after.Equal(&before) {
		t.Errorf("the scores were updated at %s and, within the limit, at %s", before, after)
	}
	testwait.Within(t, time.Minute, func() string {
		p, _, d, _, err := y.at(t.Context(), "all")
		if err != nil {
			return err.Error()
		}
		if at := p.Status.LastScoreUpdateTime; at == nil || at.After(d.Now) || d.Now.Sub(at.Time) > 2*time.Second {
			return fmt.Sprintf("the scores of %s are said to be of %s", d.Now, at)
		}
		return ""
	})

	// A move brings the scores along, whatever the limit.
	y.pulls(map[string]float64{"c": 100})
	y.selects("spread", []string{"a", "c"}, anyDecision)
	y.pageOf("spread", score("c", 100), score("a", 90))

	// A cluster that is in no zone is kept out, or not, as the policy says.
	must(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		clusters := y.hub.ocm.ClusterV1().ManagedClusters()
		d, err := clusters.Get(t.Context(), "d", metav1.GetOptions{})
		if err != nil {
			return err
		}
		delete(d.Labels, "zone")
		return created(clusters.Update(t.Context(), d, metav1.UpdateOptions{}))
	}))
	must(t, y.edit("all", zones(clusterv1beta1.DoNotSchedule)))
	y.selects("all", []string{"a", "b", "c"}, anyDecision)
	y.says("all", clusterv1beta1.PlacementConditionSatisfied, metav1.ConditionFalse, "spec.spreadPolicy keeps 1 eligible clusters out")
	must(t, y.edit("all", zones(clusterv1beta1.ScheduleAnyway)))
	y.selects("all", []string{"a", "b", "c", "d"}, anyDecision)
	y.says("all", clusterv1beta1.PlacementConditionSatisfied, metav1.ConditionTrue)
}

func score(cluster string, value int64) clusterv1beta1.ClusterDecision {
	return clusterv1beta1.ClusterDecision{ClusterName: cluster, Score: value}
}

// pageOf waits until the one page of a Placement says exactly this.
func (y yard) pageOf(name string, want ...clusterv1beta1.ClusterDecision) {
	y.t.Helper()
	testwait.Within(y.t, time.Minute, func() string {
		_, pages, _, _, err := y.at(y.t.Context(), name)
		if err != nil {
			return err.Error()
		}
		if len(pages) != 1 || !slices.Equal(pages[0].Status.Decisions, want) {
			return fmt.Sprintf("%s has %+v, want one with %+v", name, pages, want)
		}
		return ""
	})
}

// scoresOf is when the scores on a Placement's pages were updated.
func (y yard) scoresOf(name string) metav1.Time {
	y.t.Helper()
	p, _, _, _, err := y.at(y.t.Context(), name)
	must(y.t, err)
	if p.Status.LastScoreUpdateTime == nil {
		y.t.Fatalf("%s does not say when its scores were updated", name)
	}
	return *p.Status.LastScoreUpdateTime
}
