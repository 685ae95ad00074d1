package placement

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func checkGroups(s clusterv1beta1.GroupStrategy) error {
	if _, err := groupLength(s.ClustersPerDecisionGroup, 1); err != nil {
		return err
	}
	named := map[string]int{}
	for i, g := range s.DecisionGroups {
		field := fmt.Sprintf("spec.decisionStrategy.groupStrategy.decisionGroups[%d]", i)
		if before, twice := named[g.GroupName]; twice {
			return fmt.Errorf("%s.groupName is %q, as that of decisionGroups[%d]: give each a name of its own", field, g.GroupName, before)
		}
		named[g.GroupName] = i
		if _, err := compileSelectors(field+".groupClusterSelector", g.ClusterSelector.LabelSelector, g.ClusterSelector.ClaimSelector); err != nil {
			return err
		}
	}
	return nil
}

// groupLength is how many of total clusters a group may have: a number or a
// percentage rounded up; all of them where that makes no sense.
func groupLength(per intstr.IntOrString, total int) (int, error) {
	length := per.IntValue()
	if per.Type == intstr.String {
		percent, isPercent := strings.CutSuffix(per.StrVal, "%")
		f, err := strconv.ParseFloat(percent, 64)
		if err != nil || !isPercent {
			return 0, fmt.Errorf("spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup is %q: write a number or a percentage such as 25%%", per.StrVal)
		}
		length = int(math.Ceil(f / 100 * float64(total)))
	}
	if length <= 0 || length > total {
		length = total
	}
	return length, nil
}

// group divides the selected clusters: first those that each named group
// selects, then the rest, each by name into groups of the permitted length.
// With no cluster there is one empty group.
func (r *Ranking) group() {
	c, strategy := &r.choice, r.placement.Spec.DecisionStrategy.GroupStrategy
	length, _ := groupLength(strategy.ClustersPerDecisionGroup, len(c.ids)) // Parse has checked it
	c.groups, c.list = resize(c.groups, len(c.ids)), c.list[:0]
	if length == len(c.ids) && len(strategy.DecisionGroups) == 0 {
		c.list = append(c.list, schemas.DecisionGroup{Count: len(c.ids)})
		return
	}
	g := grouping{choice: c, length: length, left: r.positionsByName()}
	for _, named := range strategy.DecisionGroups {
		s, _ := compileSelectors("", named.ClusterSelector.LabelSelector, named.ClusterSelector.ClaimSelector)
		g.take(named.GroupName, func(position int) bool { return s.match(r.fleet.clusters[c.ids[position]]) })
	}
	g.take("", func(int) bool { return true })
	if len(c.list) == 0 {
		c.list = append(c.list, schemas.DecisionGroup{})
	}
}

func resize(groups []int, n int) []int {
	groups = groups[:0]
	for range n {
		groups = append(groups, 0)
	}
	return groups
}

func (r *Ranking) positionsByName() []int {
	positions := make([]int, len(r.choice.ids))
	for i := range positions {
		positions[i] = i
	}
	name := func(position int) string { return r.fleet.names[r.choice.ids[position]] }
	slices.SortFunc(positions, func(a, b int) int { return strings.Compare(name(a), name(b)) })
	return positions
}

type grouping struct {
	*choice
	length int
	left   []int // positions in ids that are in no group yet, by name
}

func (g *grouping) take(name string, match func(position int) bool) {
	var rest []int
	size := 0
	for _, position := range g.left {
		if !match(position) {
			rest = append(rest, position)
			continue
		}
		if size%g.length == 0 {
			g.list = append(g.list, schemas.DecisionGroup{Name: name})
		}
		last := len(g.list) - 1
		g.groups[position] = last
		g.list[last].Count++
		size++
	}
	g.left = rest
}
