package bridge

import (
	"cmp"
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// StepKind says what a Step writes.
type StepKind int

// Kinds of steps.
const (
	CreatePage StepKind = iota // a new, empty page
	FillPage                   // the decisions: the status subresource
	LabelPage                  // labels alone
	DeletePage
)

// Step is one write. Page is the page as it is afterwards.
type Step struct {
	Kind StepKind
	Page Page
}

// Plan leads from the pages of a Stock to those that a decision wants.
type Plan struct {
	Steps []Step
	// Pages are those that stand at the end, by number.
	Pages []Page
}

// PlanPages plans the writes that turn stock into groups, limit decisions a
// page at most. A cluster keeps its page while it is selected in its group,
// so that whoever reads between two writes sees at least what was and is
// selected, at most what was or is, and no cluster twice. (One that changes
// its group must be off its old page before it is on the new one.) One page
// is kept even where nothing is selected.
func PlanPages(stock Stock, groups []Group, limit int) Plan {
	p := planner{stock: stock, groups: groups, limit: limit, on: map[string]int{}}
	p.keep()
	p.add()
	p.content()
	p.drop()
	return p.plan()
}

type planner struct {
	stock  Stock
	groups []Group
	limit  int

	pages  []draft
	on     map[string]int   // the page, by index, on which a desired cluster ends up
	stands map[string][]int // the pages on which a cluster stands now
}

// draft is a page in the making.
type draft struct {
	old     Page
	new     Page
	created bool
	deleted bool
	room    int
	keeps   bool // a cluster
	loses   bool // a cluster that another page takes in
	takes   bool // a cluster that stands on another page now
}

// keep leaves every desired cluster on the first page of its group that it
// stands on.
func (p *planner) keep() {
	wanted := map[string]int{}
	for g, group := range p.groups {
		for _, d := range group.Decisions {
			wanted[d.ClusterName] = g
		}
	}
	for i, page := range p.stock.Pages {
		d := draft{old: page, new: page, room: p.limit, deleted: page.Number == 0}
		d.new.Unmarked = false
		d.new.Group = p.groupFor(page, wanted)
		for _, decision := range page.Decisions {
			g, ok := wanted[decision.ClusterName]
			_, placed := p.on[decision.ClusterName]
			if ok && !placed && !d.deleted && g == d.new.Group && d.room > 0 {
				p.on[decision.ClusterName] = i
				d.room--
				d.keeps = true
			}
		}
		p.pages = append(p.pages, d)
	}
}

// groupFor is the page's group, or, where there is none of that index any
// more, the group of its first cluster that has one: so the page goes over to
// that by a change of its label.
func (p *planner) groupFor(page Page, wanted map[string]int) int {
	if page.Group >= 0 && page.Group < len(p.groups) {
		return page.Group
	}
	for _, d := range page.Decisions {
		if g, ok := wanted[d.ClusterName]; ok {
			return g
		}
	}
	return page.Group
}

// add gives every desired cluster without a page one of its group: first a
// page that loses clusters and is written anyway, then one with room, then a
// new one.
func (p *planner) add() {
	for g, group := range p.groups {
		var order []int
		for _, d := range group.Decisions {
			if _, placed := p.on[d.ClusterName]; placed {
				continue
			}
			if order == nil {
				order = p.withRoom(g)
			}
			for len(order) > 0 && p.pages[order[0]].room == 0 {
				order = order[1:]
			}
			if len(order) == 0 {
				order = []int{p.create(g)}
			}
			p.on[d.ClusterName] = order[0]
			p.pages[order[0]].room--
		}
	}
	if !slices.ContainsFunc(p.pages, func(d draft) bool { return !d.deleted }) {
		p.create(0)
	}
}

func (p *planner) withRoom(group int) []int {
	var order []int
	for i, d := range p.pages {
		if !d.deleted && d.new.Group == group && d.room > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(p.losses(a), p.losses(b)) })
	return order
}

// losses is 1 for a page that loses a cluster, else 0.
func (p *planner) losses(i int) int {
	if d := p.pages[i]; len(d.old.Decisions) > p.limit-d.room {
		return 1
	}
	return 0
}

func (p *planner) create(group int) int {
	used := map[int]bool{}
	for _, d := range p.pages {
		used[d.old.Number] = true
	}
	n := 1
	for used[n] || p.stock.Taken[n] {
		n++
	}
	page := Page{Number: n, Group: group, GroupName: p.groupName(group)}
	p.pages = append(p.pages, draft{old: page, new: page, created: true, room: p.limit})
	return len(p.pages) - 1
}

func (p *planner) groupName(group int) string {
	if group < 0 || group >= len(p.groups) {
		return ""
	}
	return p.groups[group].Name
}

// content writes down what each page holds at the end, and which clusters
// move between pages.
func (p *planner) content() {
	for i := range p.pages {
		p.pages[i].new.Decisions = nil
	}
	for _, group := range p.groups {
		for _, d := range group.Decisions {
			page := &p.pages[p.on[d.ClusterName]].new
			page.Decisions = append(page.Decisions, d)
		}
	}
	p.stands = make(map[string][]int, len(p.on))
	for i := range p.pages {
		for _, d := range p.pages[i].old.Decisions {
			p.stands[d.ClusterName] = append(p.stands[d.ClusterName], i)
		}
	}
	for cluster, at := range p.stands {
		to, wanted := p.on[cluster]
		if !wanted || slices.Contains(at, to) {
			continue
		}
		p.pages[to].takes = true
		for _, i := range at {
			p.pages[i].loses = true
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
		at := p.stands[d.ClusterName]
		return len(at) > 0 && !slices.Contains(at, i)
	})
	return page
}
