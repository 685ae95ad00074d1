package placement

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// history makes random changes to a fleet and to the oracle alike.
type history struct {
	*world
	rng    *rand.Rand
	oracle oracle
	// scored has what was said of each score, to be said again.
	scored map[[2]string][]func(*world)
	// rebalances says that Placement p is rebalanced now and then.
	rebalances bool
	request    func(*Fleet)
}

func newHistory(t *testing.T, seed uint64) *history {
	w := &world{t: t, fleet: NewFleet(), now: start}
	return &history{world: w, rng: rand.New(rand.NewPCG(seed, 1)), oracle: oracle{
		clusters: map[string]*schemas.Cluster{}, sets: map[string]bool{}, bound: map[string]bool{},
		scores: map[[2]string]oracleScore{}, decisions: map[Key][]string{}, cordons: map[string]schemas.CordonSpec{},
	}, scored: map[[2]string][]func(*world){}}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

const clusterNames = 24

func (h *history) name() string { return fmt.Sprintf("c%02d", h.rng.IntN(clusterNames)) }

// step makes one change.
func (h *history) step() {
	switch h.rng.IntN(17) {
	case 15:
		h.rebalance()
	case 14, 13:
		h.cordon(h.name())
	case 16:
		h.withdraw(pick(h.rng, "gpu", "net"))
	case 12:
		name, scorer := h.name(), pick(h.rng, "gpu", "net")
		delete(h.oracle.scores, [2]string{name, scorer})
		h.say(name, scorer, func(w *world) { w.noScore(name, scorer) })
	case 0:
		set := pick(h.rng, "red", "blue", "green")
		h.oracle.sets[set] = !h.oracle.sets[set]
		if h.oracle.sets[set] {
			h.set(set)
		} else {
			h.fleet.DeleteClusterSet(set)
		}
	case 1:
		set := pick(h.rng, "red", "blue", "green")
		h.oracle.bound[set] = !h.oracle.bound[set]
		if h.oracle.bound[set] {
			h.bind(set)
		} else {
			h.fleet.DeleteBinding("default", set)
		}
	case 2:
		name := h.name()
		delete(h.oracle.clusters, name)
		h.fleet.DeleteCluster(name)
	case 3, 4, 5:
		c := h.randomCluster()
		h.oracle.clusters[c.Name] = c
		h.fleet.SetCluster(c)
	case 6:
		k := Key{"default", pick(h.rng, "p", "q", "r")}
		names := []string{h.name(), "x" + h.name()}
		h.oracle.decisions[k] = names
		h.fleet.SetDecision(k, names)
	case 7:
		h.now = h.now.Add(time.Duration(h.rng.IntN(int(20 * time.Second))))
	default:
		name, scorer, value := h.name(), pick(h.rng, "gpu", "net"), int32(h.rng.IntN(201)-100)
		validFor := time.Duration(h.rng.IntN(int(time.Minute)))
		h.oracle.scores[[2]string{name, scorer}] = oracleScore{value, h.now.Add(validFor)}
		h.say(name, scorer, func(w *world) { w.score(name, scorer, value, validFor) })
	}
}

func (h *history) cordon(name string) {
	c := schemas.CordonSpec{State: pick(h.rng, schemas.CordonCordoned, schemas.CordonDraining, schemas.CordonDraining, schemas.CordonLifted)}
	c.Force = c.State == schemas.CordonDraining && h.rng.IntN(3) == 0
	if h.rng.IntN(3) == 0 && c.State != schemas.CordonLifted {
		until := h.now.Add(time.Duration(h.rng.IntN(int(time.Minute))))
		c.Until = &until
	}
	h.oracle.cordons[name] = c
	h.fleet.SetCordon(name, &c)
}

func (h *history) rebalance() {
	if !h.rebalances {
		return
	}
	validFor := schemas.Duration(1 + h.rng.IntN(int(time.Minute)))
	asked := &schemas.Rebalance{Spec: schemas.RebalanceSpec{ID: fmt.Sprintf("r%d", h.rng.IntN(1000)), ValidFor: &validFor}}
	at := h.now
	h.request = func(f *Fleet) { f.SetRebalance(Key{"default", "p"}, asked, at) }
	h.request(h.fleet)
}

// withdraw deletes all scores of a scorer, and in one of two cases gives one
// cluster another.
func (h *history) withdraw(scorer string) {
	for i := range clusterNames {
		name := fmt.Sprintf("c%02d", i)
		delete(h.oracle.scores, [2]string{name, scorer})
		h.say(name, scorer, func(w *world) { w.fleet.DeleteScore(name, scorer, w.now) })
	}
	if name := h.name(); h.rng.IntN(2) == 0 {
		h.oracle.scores[[2]string{name, scorer}] = oracleScore{7, h.now.Add(time.Minute)}
		h.say(name, scorer, func(w *world) { w.score(name, scorer, 7, time.Minute) })
	}
}

func (h *history) say(name, scorer string, what func(*world)) {
	now, k := h.now, [2]string{name, scorer}
	h.scored[k] = append(h.scored[k], func(w *world) {
		w.now = now
		what(w)
	})
	what(h.world)
}

func (h *history) randomCluster() *schemas.Cluster {
	c := &schemas.Cluster{
		Name:     h.name(),
		Labels:   map[string]string{setLabel: pick(h.rng, "red", "blue", "green", "grey"), "tier": pick(h.rng, "a", "b")},
		Claims:   map[string]string{"cloud": pick(h.rng, "aws", "gcp", "own")},
		Deleting: h.rng.IntN(8) == 0,
	}
	for range h.rng.IntN(3) {
		c.Taints = append(c.Taints, schemas.Taint{
			Key: pick(h.rng, "k", "l"), Value: pick(h.rng, "", "v"), TimeAdded: h.now.Add(-time.Duration(h.rng.IntN(20)) * time.Second),
			Effect: pick(h.rng, "NoSelect", "PreferNoSelect", "NoSelectIfNew"),
		})
	}
	if h.rng.IntN(4) > 0 {
		c.Allocatable = map[string]string{"cpu": pick(h.rng, "1", "2500m", "7", "16", "31")}
		c.Capacity = c.Allocatable
	}
	return c
}

func (h *history) randomSpec() clusterv1beta1.PlacementSpec {
	spec := clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact()}
	if h.rng.IntN(3) > 0 {
		spec.NumberOfClusters = number(int32(h.rng.IntN(8)))
	}
	if h.rng.IntN(3) == 0 {
		spec.ClusterSets = []string{pick(h.rng, "red", "blue"), "green"}
	}
	for range h.rng.IntN(3) {
		var p clusterv1beta1.ClusterPredicate
		p.RequiredClusterSelector.LabelSelector.MatchLabels = map[string]string{"tier": pick(h.rng, "a", "b")}
		if h.rng.IntN(2) == 0 {
			p.RequiredClusterSelector.ClaimSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "cloud", Operator: "In", Values: []string{"aws", pick(h.rng, "gcp", "own")}}}
		}
		spec.Predicates = append(spec.Predicates, p)
	}
	for range h.rng.IntN(3) {
		t := clusterv1beta1.Toleration{Key: pick(h.rng, "k", "l"), Operator: pick[clusterv1beta1.TolerationOperator](h.rng, "Exists", "Equal")}
		if h.rng.IntN(2) == 0 {
			seconds := int64(h.rng.IntN(60))
			t.TolerationSeconds = &seconds
		}
		spec.Tolerations = append(spec.Tolerations, t)
	}
	for _, c := range []clusterv1beta1.PrioritizerConfig{addOnOf("gpu", 1), addOnOf("net", 1), builtIn("Steady", 1), builtIn("Balance", 1), builtIn("ResourceAllocatableCPU", 1)} {
		if h.rng.IntN(2) == 0 {
			c.Weight = int32(h.rng.IntN(21) - 10)
			spec.PrioritizerPolicy.Configurations = append(spec.PrioritizerPolicy.Configurations, c)
		}
	}
	return spec
}

func (h *history) randomPrior() *Prior {
	switch h.rng.IntN(3) {
	case 0:
		return nil
	default:
		names := map[string]bool{}
		for range h.rng.IntN(6) {
			names[h.name()] = true
		}
		return selecting(slices.Sorted(maps.Keys(names))...)
	}
}

// variants are annotations that the oracle does not know.
func (h *history) variant(p *schemas.Placement) {
	annotated(AnnotationStalePolicy, pick(h.rng, StaleHold, StaleExclude, StaleWorst, StaleZero))(p)
	annotated(AnnotationStaleGrace, pick(h.rng, "0s", "7s", "30s"))(p)
	p.Generation = int64(1 + h.rng.IntN(2))
	annotated(AnnotationDeadBand, pick(h.rng, "0", "0", "15", "200", "x"))(p)
	if h.rng.IntN(2) == 0 {
		return
	}
	annotated(AnnotationDeadBand, pick(h.rng, "0", "15"))(p)
	annotated(AnnotationDecisiveLead, pick(h.rng, "0", "0", "60", "150"))(p)
	annotated(AnnotationWindow, pick(h.rng, "0s", "15s", "40s"))(p)
	annotated(AnnotationBudget, pick(h.rng, "off", "1/30s", "3/20s"))(p)
	annotated(AnnotationCooldown, pick(h.rng, "0s", "0s", "10s"))(p)
	annotated(AnnotationDwell, pick(h.rng, "0s", "0s", "25s"))(p)
}

// spreading adds constraints that the oracle does not know.
func (h *history) spreading(spec *clusterv1beta1.PlacementSpec) {
	for h.rng.IntN(3) == 0 {
		spec.SpreadPolicy.SpreadConstraints = append(spec.SpreadPolicy.SpreadConstraints, clusterv1beta1.SpreadConstraintsTerm{
			TopologyKey: pick(h.rng, "tier", "cloud"), TopologyKeyType: pick[clusterv1beta1.TopologyKeyType](h.rng, "Label", "Claim"), MaxSkew: int32(1 + h.rng.IntN(2)),
			WhenUnsatisfiable: pick[clusterv1beta1.UnsatisfiableMaxSkewAction](h.rng, "DoNotSchedule", "ScheduleAnyway"),
		})
	}
}

// inCEL says some of the predicates of randomSpec in CEL.
func (h *history) inCEL(spec clusterv1beta1.PlacementSpec) clusterv1beta1.PlacementSpec {
	out := *spec.DeepCopy()
	for i := range out.Predicates {
		s := &out.Predicates[i].RequiredClusterSelector
		if h.rng.IntN(2) == 0 {
			s.CelSelector.CelExpressions = append(s.CelSelector.CelExpressions, fmt.Sprintf("managedCluster.metadata.labels.tier == %q", s.LabelSelector.MatchLabels["tier"]))
			s.LabelSelector.MatchLabels = nil
		}
		if e := s.ClaimSelector.MatchExpressions; len(e) > 0 && h.rng.IntN(2) == 0 {
			s.CelSelector.CelExpressions = append(s.CelSelector.CelExpressions, fmt.Sprintf(`managedCluster.status.clusterClaims.exists(c, c.name == "cloud" && c.value in [%q, %q])`, e[0].Values[0], e[0].Values[1]))
			s.ClaimSelector.MatchExpressions = nil
		}
	}
	return out
}

// expressions adds predicates that read scores, and such as fail.
func (h *history) expressions(spec *clusterv1beta1.PlacementSpec) {
	for range h.rng.IntN(3) {
		spec.Predicates = append(spec.Predicates, celPredicate(pick(h.rng,
			`managedCluster.scores("gpu").exists(s, s.value > 0)`,
			`managedCluster.scores("net").all(s, s.value < 50)`,
			`managedCluster.scores({"a": "gpu", "b": "net"}[managedCluster.metadata.labels.tier]).size() > 0`,
			`managedCluster.status.allocatable.cpu != "7"`,
			`managedCluster.metadata.labels.nowhere == "x"`,
			`managedCluster.spec.taints.size() == 1`,
		)))
	}
	if h.rng.IntN(8) == 0 {
		spec.Predicates = append(spec.Predicates, celPredicate(`1 +`))
	}
}

func (h *history) groups(spec *clusterv1beta1.PlacementSpec) {
	if h.rng.IntN(3) > 0 {
		return
	}
	var g clusterv1beta1.DecisionGroup
	g.GroupName = "canary"
	g.ClusterSelector.LabelSelector.MatchLabels = map[string]string{"tier": "a"}
	spec.DecisionStrategy.GroupStrategy.DecisionGroups = []clusterv1beta1.DecisionGroup{g}
	_ = json.Unmarshal([]byte(pick(h.rng, `2`, `"40%"`)), &spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup)
}

// shuffled builds the same fleet in another order.
func (h *history) shuffled() *Fleet {
	w := &world{t: h.t, fleet: NewFleet(), now: start}
	var steps []func()
	for _, c := range h.oracle.clusters {
		steps = append(steps, func() { w.fleet.SetCluster(c) })
	}
	for set, exists := range h.oracle.sets {
		if exists {
			steps = append(steps, func() { w.set(set) })
		}
	}
	for set, bound := range h.oracle.bound {
		if bound {
			steps = append(steps, func() { w.bind(set) })
		}
	}
	for _, said := range h.scored {
		steps = append(steps, func() {
			for _, again := range said {
				again(w)
			}
		})
	}
	for name, c := range h.oracle.cordons {
		steps = append(steps, func() { w.fleet.SetCordon(name, &c) })
	}
	if h.request != nil {
		steps = append(steps, func() { h.request(w.fleet) })
	}
	for k, names := range h.oracle.decisions {
		steps = append(steps, func() { w.fleet.SetDecision(k, names) })
	}
	h.rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	for _, step := range steps {
		step()
	}
	return w.fleet
}
