package bridge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// PageName is the name of page n, from 1, of a Placement's decisions.
func PageName(placement string, n int) string { return placement + "-decision-" + strconv.Itoa(n) }

// PageNumber is the reverse of PageName; 0 for any other name.
func PageNumber(placement, name string) int {
	digits, ok := strings.CutPrefix(name, placement+"-decision-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || PageName(placement, n) != name {
		return 0
	}
	return n
}

// PlacementOfName returns the Placement that the name of a PlacementDecision
// is taken from, "" for a name that PageName does not give.
func PlacementOfName(page string) string {
	i := strings.LastIndex(page, "-decision-")
	if i <= 0 || PageNumber(page[:i], page) == 0 {
		return ""
	}
	return page[:i]
}

// groupOf is the decision group of d, -1 where its label says none.
func groupOf(d *clusterv1beta1.PlacementDecision) int {
	n, err := strconv.Atoi(d.Labels[clusterv1beta1.DecisionGroupIndexLabel])
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// InPageOrder sorts the PlacementDecisions of one Placement: by group, then
// by number.
func InPageOrder(placement string, pages []*clusterv1beta1.PlacementDecision) {
	slices.SortFunc(pages, func(a, b *clusterv1beta1.PlacementDecision) int {
		return cmp.Or(
			cmp.Compare(groupOf(a), groupOf(b)),
			cmp.Compare(PageNumber(placement, a.Name), PageNumber(placement, b.Name)),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// ObservedDecision adds up the PlacementDecisions that carry p's label, in
// the order of their pages. It returns nil where there is none.
func ObservedDecision(p *clusterv1beta1.Placement, pages []*clusterv1beta1.PlacementDecision) *schemas.ObservedDecision {
	labelled := slices.DeleteFunc(slices.Clone(pages), func(d *clusterv1beta1.PlacementDecision) bool {
		return d.Labels[clusterv1beta1.PlacementLabel] != p.Name
	})
	if len(labelled) == 0 {
		return nil
	}
	InPageOrder(p.Name, labelled)
	out := &schemas.ObservedDecision{
		Placement: schemas.PlacementRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)},
		Clusters:  []schemas.ObservedCluster{},
		Writer:    writer(p, labelled),
	}
	for _, page := range labelled {
		for _, d := range page.Status.Decisions {
			if d.ClusterName == "" {
				continue // OCM's way to say: not scheduled yet
			}
			out.Clusters = append(out.Clusters, schemas.ObservedCluster{Name: d.ClusterName, Reason: d.Reason, Group: max(groupOf(page), 0)})
		}
	}
	return out
}

// writer says who owns all the pages. OCM leaves no mark but the owner
// reference.
func writer(p *clusterv1beta1.Placement, pages []*clusterv1beta1.PlacementDecision) string {
	ours := 0
	for _, page := range pages {
		if ownerUID(page, p.Name) != p.UID {
			return WriterOther
		}
		if Ours(page) {
			ours++
		}
	}
	switch ours {
	case 0:
		return SchedulerOCM
	case len(pages):
		return SchedulerSpokewire
	}
	return WriterOther
}
