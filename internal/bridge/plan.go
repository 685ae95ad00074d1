package bridge

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
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

// PlanDecision is PlanPages for a Placement of that name, but that one whose
// name is too long for the label of a PlacementDecision has no page to say
// that nothing is selected: its status alone says so.
func PlanDecision(placement string, stock Stock, groups []Group) Plan {
	selected := slices.ContainsFunc(groups, func(g Group) bool { return len(g.Decisions) > 0 })
	if len(placement) > validation.LabelValueMaxLength && len(stock.Pages) == 0 && !selected {
		return Plan{}
	}
	return PlanPages(stock, groups, MaxDecisions)
}

// PlanPages plans the writes that turn stock into groups, limit decisions a
// page at most. A cluster keeps its page while it is selected in its group,
// so that whoever reads between two writes sees at least what was and is
// selected, at most what was or is, and no cluster twice. (One that changes
// its group must be off its old page before it is on the new one.) One page
// is kept even where nothing is selected.
func PlanPages(stock Stock, groups []Group, limit int) Plan {
	p := planner{stock: stock, groups: groups, limit: limit}
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

	pages   []draft
	targets map[string]target
	movers  map[string]bool // the clusters that stand on another page than they end up on
}

// target is where a desired cluster ends up.
type target struct {
	group int
	page  int  // by index, -1 while it has none
	stays bool // it stands there already
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
	total := 0
	for _, group := range p.groups {
		total += len(group.Decisions)
	}
	p.targets = make(map[string]target, total)
	for g, group := range p.groups {
		for _, d := range group.Decisions {
			p.targets[d.ClusterName] = target{group: g, page: -1}
		}
	}
	for i, page := range p.stock.Pages {
		d := draft{old: page, new: page, room: p.limit, deleted: page.Number == 0}
		d.new.Unmarked = false
		d.new.Group = p.groupFor(page)
		for _, decision := range page.Decisions {
			t, ok := p.targets[decision.ClusterName]
			if ok && t.page < 0 && !d.deleted && t.group == d.new.Group && d.room > 0 {
				p.targets[decision.ClusterName] = target{t.group, i, true}
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
func (p *planner) groupFor(page Page) int {
	if page.Group >= 0 && page.Group < len(p.groups) {
		return page.Group
	}
	for _, d := range page.Decisions {
		if t, ok := p.targets[d.ClusterName]; ok {
			return t.group
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
			if p.targets[d.ClusterName].page >= 0 {
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
			p.targets[d.ClusterName] = target{group: g, page: order[0]}
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
