package bridge

import (
	"cmp"
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// content writes down what each page holds at the end, and which clusters
// move between pages.
func (p *planner) content() {
	for i := range p.pages {
		d := &p.pages[i]
		d.new.Decisions = nil
		if held := p.limit - d.room; held > 0 {
			d.new.Decisions = make([]clusterv1beta1.ClusterDecision, 0, held)
		}
	}
	for _, group := range p.groups {
		for _, d := range group.Decisions {
			page := &p.pages[p.targets[d.ClusterName].page].new
			page.Decisions = append(page.Decisions, d)
		}
	}
	p.movers = map[string]bool{}
	for i := range p.pages {
		for _, d := range p.pages[i].old.Decisions {
			if t, ok := p.targets[d.ClusterName]; ok && !t.stays {
				p.movers[d.ClusterName] = true
				p.pages[i].loses, p.pages[t.page].takes = true, true
			}
		}
	}
}

// drop deletes the empty pages, but for the last one.
func (p *planner) drop() {
	left := 0
	for i := range p.pages {
		if !p.pages[i].deleted && len(p.pages[i].new.Decisions) > 0 {
			left++
		}
	}
	for i := range p.pages {
		d := &p.pages[i]
		switch {
		case d.deleted:
		case len(d.new.Decisions) > 0:
			d.new.GroupName = p.groupName(d.new.Group)
		case left == 0:
			left++
			d.new.Group, d.new.GroupName = 0, p.groupName(0)
		default:
			d.deleted = true
		}
	}
}

// plan puts the writes in order: new pages, labels of pages that keep
// clusters, pages that lose a cluster to another one, pages that only gain,
// the rest, other labels, deletions.
func (p *planner) plan() Plan {
	var out Plan
	var create, mark, free, gain, fill, label, remove []Step
	for i := range p.pages {
		d := &p.pages[i]
		if !d.deleted {
			out.Pages = append(out.Pages, d.new)
		}
		regroup := d.old.Group != d.new.Group || d.old.GroupName != d.new.GroupName
		switch {
		case d.created:
			create = append(create, Step{CreatePage, d.old})
		case d.deleted && d.loses:
			free = append(free, Step{DeletePage, d.new})
			continue
		case d.deleted:
			remove = append(remove, Step{DeletePage, d.new})
			continue
		case d.old.Unmarked && !regroup, regroup && d.keeps:
			mark = append(mark, Step{LabelPage, d.new})
		case d.old.Unmarked || regroup:
			label = append(label, Step{LabelPage, d.new})
		}
		if slices.Equal(d.old.Decisions, d.new.Decisions) {
			continue
		}
		if d.loses {
			free = append(free, Step{FillPage, p.withoutTaken(i)})
		}
		switch {
		case d.loses && !d.takes:
		case len(d.new.Decisions) >= len(d.old.Decisions):
			gain = append(gain, Step{FillPage, d.new})
		default:
			fill = append(fill, Step{FillPage, d.new})
		}
	}
	slices.SortFunc(out.Pages, func(a, b Page) int { return cmp.Compare(a.Number, b.Number) })
	out.Steps = slices.Concat(create, mark, free, gain, fill, label, remove)
	return out
}

// withoutTaken is page i at the end, without the clusters that still stand
// on other pages.
func (p *planner) withoutTaken(i int) Page {
	page := p.pages[i].new
	if !p.pages[i].takes {
		return page
	}
	page.Decisions = slices.DeleteFunc(slices.Clone(page.Decisions), func(d clusterv1beta1.ClusterDecision) bool {
		return p.movers[d.ClusterName]
	})
	return page
}
