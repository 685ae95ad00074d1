package bridge

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// ManagerOCM is the name that OCM gives itself in SIG-Multicluster's
// resources, as the manager of a ClusterProfile and as a scheduler.
const ManagerOCM = "open-cluster-management"

// SliceStep is one write of a SIG-Multicluster PlacementDecision, a slice.
type SliceStep struct {
	Slice *sig.PlacementDecision
	// Create is true where the hub has none of that name, Delete where it is
	// to have none.
	Create, Delete bool
}

// SlicePlan leads from the slices that the hub has of a Placement to those
// that say what its PlacementDecisions say.
type SlicePlan struct {
	Steps []SliceStep
	// Foreign are the slices of others, sorted by name, that carry the
	// Placement's key. Readers count them in, so there are none of ours
	// beside them: OCM's own copier, or whoever wrote them, has the word.
	Foreign []string
}

const sliceInfix = "-slice-"

// SliceName is the name of slice n, from 0, of a Placement: not that of one
// of its PlacementDecisions, which OCM's copier gives to its own.
func SliceName(placement string, n int) string { return placement + sliceInfix + strconv.Itoa(n) }

// PlacementOfSlice returns the Placement and the number that the name of a
// slice is made of, "" and -1 for a name that SliceName does not give.
func PlacementOfSlice(name string) (string, int) {
	i := strings.LastIndex(name, sliceInfix)
	if i <= 0 {
		return "", -1
	}
	n, err := strconv.Atoi(name[i+len(sliceInfix):])
	if err != nil || n < 0 || SliceName(name[:i], n) != name {
		return "", -1
	}
	return name[:i], n
}

// Chosen is what the slices of a Placement are to say.
type Chosen struct {
	Clusters  []clusterv1beta1.ClusterDecision
	Scheduler string
}

// ChosenFor says which clusters are chosen for Placement p, nil for nothing:
// p is gone or not decided. Where the bridge writes p's PlacementDecisions
// they are those of decision d, nil for none, which is whole at any time; else
// what pages hold, those that p controls and readers of its label count in.
func ChosenFor(p *clusterv1beta1.Placement, d *schemas.PlacementDecision, pages []*clusterv1beta1.PlacementDecision) *Chosen {
	if p == nil {
		return nil
	}
	if d != nil && Direct(p) && Judge(d, p).Action == Apply {
		if groups, err := Desired(d, p.Spec.SortBy); err == nil {
			chosen := &Chosen{Scheduler: SchedulerSpokewire}
			for _, g := range groups {
				chosen.Clusters = append(chosen.Clusters, g.Decisions...)
			}
			return chosen
		}
	}
	own := slices.DeleteFunc(slices.Clone(pages), func(page *clusterv1beta1.PlacementDecision) bool {
		return page.Labels[clusterv1beta1.PlacementLabel] != p.Name || !metav1.IsControlledBy(page, p)
	})
	if len(own) == 0 {
		return nil
	}
	InPageOrder(p.Name, own)
	chosen := &Chosen{Scheduler: ManagerOCM}
	if Ours(own[0]) {
		chosen.Scheduler = SchedulerSpokewire
	}
	for _, page := range own {
		chosen.Clusters = append(chosen.Clusters, page.Status.Decisions...)
	}
	return chosen
}

// Keep adds to what is chosen for Placement p the clusters that stand on its
// pages beside them, as they do while a move overlaps.
func (c *Chosen) Keep(p *clusterv1beta1.Placement, pages []*clusterv1beta1.PlacementDecision) {
	standing := standingOn(TakeStock(p, pages).Pages)
	for _, d := range c.Clusters {
		delete(standing, d.ClusterName)
	}
	for _, name := range slices.Sorted(maps.Keys(standing)) {
		c.Clusters = append(c.Clusters, standing[name].decision)
	}
}

// PlanSlices plans the slices of Placement p, or, where that is nil, of the
// one called name, which is gone. chosen is what they are to say, nil for
// nothing at all, have are the slices around p, and ref names the
// ClusterProfile of a cluster.
//
// A cluster keeps its slice while it is selected, whatever its decision
// group, so that whoever reads between two writes sees at least what was and
// is selected, at most what was or is, and no cluster twice. The slices are a
// set: their numbers say nothing of rank.
func PlanSlices(name string, p *clusterv1beta1.Placement, chosen *Chosen, have []*sig.PlacementDecision, ref func(cluster string) sig.ClusterProfileReference) SlicePlan {
	s := slicer{name: name, placement: p, mine: map[string]*sig.PlacementDecision{}, taken: map[int]bool{}}
	s.take(have)
	if p == nil || chosen == nil || len(s.plan.Foreign) > 0 {
		s.withdraw()
		return s.plan
	}
	s.scheduler = chosen.Scheduler
	s.fill(PlanPages(s.stock(), []Group{{Decisions: references(chosen.Clusters, ref)}}, MaxDecisions))
	return s.plan
}

// references are the decisions with ClusterProfiles, as NAMESPACE/NAME, in
// the place of clusters, each once.
func references(clusters []clusterv1beta1.ClusterDecision, ref func(string) sig.ClusterProfileReference) []clusterv1beta1.ClusterDecision {
	var out []clusterv1beta1.ClusterDecision
	seen := map[string]bool{"": true} // OCM's way to say: not scheduled yet
	for _, d := range clusters {
		if !seen[d.ClusterName] {
			r := ref(d.ClusterName)
			out = append(out, clusterv1beta1.ClusterDecision{ClusterName: r.Namespace + "/" + r.Name, Reason: d.Reason})
		}
		seen[d.ClusterName] = true
	}
	return out
}

type slicer struct {
	name      string
	placement *clusterv1beta1.Placement
	scheduler string
	mine      map[string]*sig.PlacementDecision
	taken     map[int]bool // numbers whose names others have
	plan      SlicePlan
}

// take sorts the slices that are there by whom they belong to. One that the
// Placement controls is ours even where somebody took our label off: nobody
// else makes a Placement the owner.
func (s *slicer) take(have []*sig.PlacementDecision) {
	for _, slice := range have {
		placement, n := PlacementOfSlice(slice.Name)
		keyed := slice.Labels[sig.PlacementKeyLabel] == s.name || slice.Labels[sig.DecisionKeyLabel] == s.name
		switch {
		case Ours(slice) && (keyed || placement == s.name), s.placement != nil && metav1.IsControlledBy(slice, s.placement):
			s.mine[slice.Name] = slice
		case keyed:
			s.plan.Foreign = append(s.plan.Foreign, slice.Name)
		case placement == s.name:
			s.taken[n] = true
		}
	}
	slices.Sort(s.plan.Foreign)
}

// stock is what the hub has, as pages: slice n is page n+1.
func (s *slicer) stock() Stock {
	stock := Stock{Taken: map[int]bool{}}
	for n := range s.taken {
		stock.Taken[n+1] = true
	}
	for _, name := range slices.Sorted(maps.Keys(s.mine)) {
		page := Page{Name: name}
		if placement, n := PlacementOfSlice(name); placement == s.name {
			page.Number = n + 1
		}
		for _, d := range s.mine[name].Decisions {
			page.Decisions = append(page.Decisions, clusterv1beta1.ClusterDecision{
				ClusterName: d.ClusterProfileRef.Namespace + "/" + d.ClusterProfileRef.Name, Reason: d.Reason,
			})
		}
		stock.Pages = append(stock.Pages, page)
	}
	slices.SortFunc(stock.Pages, func(a, b Page) int { return a.Number - b.Number })
	return stock
}

// fill turns the steps of pages into those of slices. A slice is created
// with what it holds: the empty one that comes before is left out, unless it
// stays empty.
func (s *slicer) fill(plan Plan) {
	filled := map[int]bool{}
	for _, step := range plan.Steps {
		filled[step.Page.Number] = filled[step.Page.Number] || step.Kind == FillPage
	}
	for _, step := range plan.Steps {
		switch {
		case step.Kind == DeletePage:
			s.remove(step.Page.Name)
		case step.Kind != CreatePage || !filled[step.Page.Number]:
			s.put(step.Page)
		}
	}
	for _, page := range plan.Pages {
		s.put(page) // its marks, where its clusters did not change
	}
}

// put adds the step that makes the slice hold what page does, if it does
// not. A label that somebody else added stays.
func (s *slicer) put(page Page) {
	name := SliceName(s.name, page.Number-1)
	old, there := s.mine[name]
	next := &sig.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.placement.Namespace}}
	if there {
		next = old.DeepCopy()
	}
	if next.Labels == nil {
		next.Labels = map[string]string{}
	}
	maps.Copy(next.Labels, map[string]string{
		LabelManagedBy:         ManagedBy,
		sig.DecisionKeyLabel:   s.name,
		sig.PlacementKeyLabel:  s.name,
		sig.DecisionIndexLabel: strconv.Itoa(page.Number - 1),
	})
	next.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(s.placement, placementKind())}
	next.SchedulerName = s.scheduler
	next.Decisions = []sig.ClusterDecision{}
	for _, d := range page.Decisions {
		namespace, cluster, _ := strings.Cut(d.ClusterName, "/")
		next.Decisions = append(next.Decisions, sig.ClusterDecision{
			ClusterProfileRef: sig.ClusterProfileReference{Namespace: namespace, Name: cluster}, Reason: d.Reason,
		})
	}
	if there && equality.Semantic.DeepEqual(old, next) {
		return
	}
	s.mine[name] = next
	s.plan.Steps = append(s.plan.Steps, SliceStep{Slice: next, Create: !there})
}

func (s *slicer) withdraw() {
	for _, name := range slices.Sorted(maps.Keys(s.mine)) {
		s.remove(name)
	}
}

func (s *slicer) remove(name string) {
	s.plan.Steps = append(s.plan.Steps, SliceStep{Slice: s.mine[name], Delete: true})
	delete(s.mine, name)
}
