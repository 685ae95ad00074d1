package placement

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// oracle decides as OCM does, the slow and obvious way: with maps, from the
// payloads, every cluster every time. It knows no CEL, groups, dead band or
// stale policy but zero.
type oracle struct {
	clusters  map[string]*schemas.Cluster
	sets      map[string]bool // all of the exclusive label
	bound     map[string]bool // in namespace default
	scores    map[[2]string]oracleScore
	decisions map[Key][]string
	cordons   map[string]schemas.CordonSpec
}

type oracleScore struct {
	value int32
	until time.Time
}

// decide selects where there is no flap control: who is being drained goes
// at once, if another cluster takes its place.
func (o *oracle) decide(spec clusterv1beta1.PlacementSpec, own Key, prior []string, now time.Time) ([]string, map[string]int64) {
	ranked, totals := o.rank(spec, own, prior, nil, now)
	if gone := o.leaving(spec, ranked, prior, now); len(gone) > 0 {
		ranked, totals = o.rank(spec, own, prior, gone, now)
	}
	if n := spec.NumberOfClusters; n != nil && int(*n) < len(ranked) {
		ranked = ranked[:*n]
	}
	return ranked, totals
}

// leaving is who is being drained and may go, of the ranked: those that are
// forced, then the worst, as long as enough are left.
func (o *oracle) leaving(spec clusterv1beta1.PlacementSpec, ranked, prior []string, now time.Time) (gone []string) {
	least := 1
	if spec.NumberOfClusters != nil {
		least = int(*spec.NumberOfClusters)
	}
	left := len(ranked)
	for _, force := range []bool{true, false} {
		for _, name := range slices.Backward(ranked) {
			c, held := o.cordoned(name, now)
			if !held || c.State != schemas.CordonDraining || c.Force != force || !slices.Contains(prior, name) {
				continue
			}
			if force || left > least {
				gone = append(gone, name)
				left--
			}
		}
	}
	return gone
}

func (o *oracle) cordoned(name string, now time.Time) (schemas.CordonSpec, bool) {
	c, there := o.cordons[name]
	return c, there && c.State != schemas.CordonLifted && (c.Until == nil || now.Before(*c.Until))
}

func (o *oracle) open(name string, prior, gone []string, now time.Time) bool {
	_, shut := o.cordoned(name, now)
	return !shut || slices.Contains(prior, name) && !slices.Contains(gone, name)
}

// rank has all that are eligible, the best first.
func (o *oracle) rank(spec clusterv1beta1.PlacementSpec, own Key, prior, gone []string, now time.Time) ([]string, map[string]int64) {
	var feasible []*schemas.Cluster
	for _, c := range o.clusters {
		if o.available(spec, c) && o.matches(spec, c) && o.tolerated(spec, c, slices.Contains(prior, c.Name), now) && o.open(c.Name, prior, gone, now) {
			feasible = append(feasible, c)
		}
	}
	totals := map[string]int64{}
	for _, c := range feasible {
		for _, config := range spec.PrioritizerPolicy.Configurations {
			totals[c.Name] += int64(config.Weight) * o.score(config.ScoreCoordinate, c, feasible, own, prior, now)
		}
	}
	slices.SortFunc(feasible, func(a, b *schemas.Cluster) int {
		return cmp.Or(cmp.Compare(totals[b.Name], totals[a.Name]), cmp.Compare(a.Name, b.Name))
	})
	names := []string{}
	for _, c := range feasible {
		names = append(names, c.Name)
	}
	return names, totals
}

func (o *oracle) available(spec clusterv1beta1.PlacementSpec, c *schemas.Cluster) bool {
	set := c.Labels[setLabel]
	asked := len(spec.ClusterSets) == 0 || slices.Contains(spec.ClusterSets, set)
	return o.sets[set] && o.bound[set] && asked && !c.Deleting
}

// matches knows predicates of one label only.
func (o *oracle) matches(spec clusterv1beta1.PlacementSpec, c *schemas.Cluster) bool {
	for _, p := range spec.Predicates {
		all := true
		for key, value := range p.RequiredClusterSelector.LabelSelector.MatchLabels {
			all = all && c.Labels[key] == value
		}
		for _, e := range p.RequiredClusterSelector.ClaimSelector.MatchExpressions {
			all = all && slices.Contains(e.Values, c.Claims[e.Key])
		}
		if all {
			return true
		}
	}
	return len(spec.Predicates) == 0
}

func (o *oracle) tolerated(spec clusterv1beta1.PlacementSpec, c *schemas.Cluster, selected bool, now time.Time) bool {
	for _, taint := range c.Taints {
		if taint.Effect == "PreferNoSelect" || taint.Effect == "NoSelectIfNew" && selected {
			continue
		}
		ok := false
		for _, t := range spec.Tolerations {
			within := t.TolerationSeconds == nil || now.Before(taint.TimeAdded.Add(time.Duration(*t.TolerationSeconds)*time.Second))
			ok = ok || (t.Key == "" || t.Key == taint.Key) && (t.Operator == "Exists" || t.Value == taint.Value) && within
		}
		if !ok {
			return false
		}
	}
	return true
}

func (o *oracle) score(c *clusterv1beta1.ScoreCoordinate, cluster *schemas.Cluster, feasible []*schemas.Cluster, own Key, prior []string, now time.Time) int64 {
	switch {
	case c.AddOn != nil:
		s, known := o.scores[[2]string{cluster.Name, c.AddOn.ResourceName}]
		if !known || now.After(s.until) {
			return 0
		}
		return int64(s.value)
	case c.BuiltIn == "Steady":
		if slices.Contains(prior, cluster.Name) {
			return 100
		}
		return 0
	case c.BuiltIn == "Balance":
		return o.balance(cluster, own)
	}
	return o.cpu(cluster, feasible)
}

func (o *oracle) balance(cluster *schemas.Cluster, own Key) int64 {
	counts, most := map[string]int{}, 0
	for k, names := range o.decisions {
		if k == own {
			continue
		}
		for _, name := range names {
			counts[name]++
			most = max(most, counts[name])
		}
	}
	if counts[cluster.Name] == 0 {
		return 100
	}
	return 2 * int64(100*(0.5-float64(counts[cluster.Name])/float64(most)))
}

func (o *oracle) cpu(cluster *schemas.Cluster, feasible []*schemas.Cluster) int64 {
	amount := func(c *schemas.Cluster) (float64, bool) {
		text, has := c.Allocatable["cpu"]
		if !has {
			return 0, false
		}
		q := resource.MustParse(text)
		return q.AsApproximateFloat64(), true
	}
	var all []float64
	for _, c := range feasible {
		if v, has := amount(c); has {
			all = append(all, v)
		}
	}
	v, has := amount(cluster)
	switch {
	case !has:
		return 0
	case slices.Max(all) == slices.Min(all):
		return 100
	}
	return int64(((v-slices.Min(all))/(slices.Max(all)-slices.Min(all)) - 0.5) * 2 * 100)
}
