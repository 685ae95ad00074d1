package bridge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// MaxDecisions is how many decisions OCM allows in one PlacementDecision.
const MaxDecisions = 100

// Group is one decision group as a decision wants it.
type Group struct {
	Name      string
	Decisions []clusterv1beta1.ClusterDecision
}

// Page is one PlacementDecision object of ours.
type Page struct {
	Number    int // from 1; 0 for an object whose name is none that we give
	Group     int // -1 where the label says none
	GroupName string
	Decisions []clusterv1beta1.ClusterDecision
	// Unmarked is true where our label, the placement's or the owner is
	// missing.
	Unmarked bool
	// Name is that of the object, for pages read from the hub.
	Name string
}

// Stock is what the hub holds of one Placement's PlacementDecisions.
type Stock struct {
	// Pages are ours, by number.
	Pages []Page
	// Stale are ours too, of an earlier Placement of the same name: where
	// nothing collects garbage they must be deleted.
	Stale []string
	// Taken are the numbers whose names other objects have.
	Taken map[int]bool
	// Foreign are the objects of others that readers count in.
	Foreign []string
}

// TakeStock sorts the PlacementDecisions around Placement p by whom they
// belong to. An object without our label is taken over if p controls it:
// OCM left it behind when its scheduling of p was switched off. So is one
// with our label whose owner somebody removed.
func TakeStock(p *clusterv1beta1.Placement, objects []*clusterv1beta1.PlacementDecision) Stock {
	s := Stock{Taken: map[int]bool{}}
	for _, o := range objects {
		number := PageNumber(p.Name, o.Name)
		switch uid := ownerUID(o, p.Name); {
		case uid == p.UID && (Ours(o) || o.Labels[LabelManagedBy] == ""),
			Ours(o) && metav1.GetControllerOf(o) == nil && number > 0:
			s.Pages = append(s.Pages, pageOf(p.Name, o))
			continue
		case uid != "" && Ours(o):
			s.Stale = append(s.Stale, o.Name)
			continue
		case o.Labels[clusterv1beta1.PlacementLabel] == p.Name:
			s.Foreign = append(s.Foreign, o.Name)
		}
		if number > 0 {
			s.Taken[number] = true
		}
	}
	slices.SortFunc(s.Pages, func(a, b Page) int { return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name)) })
	slices.Sort(s.Stale)
	slices.Sort(s.Foreign)
	return s
}

func pageOf(placement string, o *clusterv1beta1.PlacementDecision) Page {
	return Page{
		Number:    PageNumber(placement, o.Name),
		Group:     groupOf(o),
		GroupName: o.Labels[clusterv1beta1.DecisionGroupNameLabel],
		Decisions: o.Status.Decisions,
		Unmarked:  !Ours(o) || o.Labels[clusterv1beta1.PlacementLabel] != placement || metav1.GetControllerOf(o) == nil,
		Name:      o.Name,
	}
}

// PageLabels are the labels of a page.
func PageLabels(placement string, page Page) map[string]string {
	return map[string]string{
		clusterv1beta1.PlacementLabel:          placement,
		clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(page.Group),
		clusterv1beta1.DecisionGroupNameLabel:  page.GroupName,
		LabelManagedBy:                         ManagedBy,
	}
}

// Mark returns a copy of o with the labels and the owner of page.
func Mark(p *clusterv1beta1.Placement, o *clusterv1beta1.PlacementDecision, page Page) *clusterv1beta1.PlacementDecision {
	marked := o.DeepCopy()
	if marked.Labels == nil {
		marked.Labels = map[string]string{}
	}
	maps.Copy(marked.Labels, PageLabels(p.Name, page))
	if metav1.GetControllerOf(marked) == nil {
		marked.OwnerReferences = append(marked.OwnerReferences, *metav1.NewControllerRef(p, placementKind()))
	}
	return marked
}

// NewPageObject is the object to create for a page of p. Its status is not
// taken at creation.
func NewPageObject(p *clusterv1beta1.Placement, page Page) *clusterv1beta1.PlacementDecision {
	return &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Name:      PageName(p.Name, page.Number),
		Namespace: p.Namespace,
		Labels:    PageLabels(p.Name, page),
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(p, placementKind()),
		},
	}}
}

func placementKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: clusterv1beta1.GroupName, Version: "v1beta1", Kind: "Placement"}
}

// Orphans returns those of objects, all of Placement name, that a tombstone
// of its decision deletes: ours, with a controlling Placement, unless the
// tombstone is for another (uid, "" for any) than that and the hub still has
// it (living is the UID of the hub's Placement of that name, "" for none).
func Orphans(name, uid, living string, objects []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	return slices.DeleteFunc(slices.Clone(objects), func(o *clusterv1beta1.PlacementDecision) bool {
		owner := string(ownerUID(o, name))
		ours := Ours(o) && owner != ""
		return !ours || uid != "" && owner != uid && owner == living
	})
}

// Desired is what d wants, group by group, each ordered as OCM's sortBy
// says: by rank for Score, else by name.
func Desired(d *schemas.PlacementDecision, sortBy clusterv1beta1.PlacementSortByType) ([]Group, error) {
	groups := []Group{{}}
	if len(d.Groups) > 0 {
		groups = make([]Group, len(d.Groups))
	}
	for i, g := range d.Groups {
		groups[i].Name = g.Name
	}
	for i, c := range d.Clusters {
		if c.Group < 0 || c.Group >= len(groups) {
			return nil, &schemas.FieldError{
				Field:  fmt.Sprintf("clusters[%d].group", i),
				Reason: fmt.Sprintf("is %d, but the decision has %d groups", c.Group, len(groups)),
			}
		}
		g := &groups[c.Group]
		g.Decisions = append(g.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c.Name, Score: c.Score})
	}
	sortGroups(groups, sortBy)
	return groups, nil
}
