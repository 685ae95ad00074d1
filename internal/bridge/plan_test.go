package bridge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// limit is small, so that a few clusters fill several pages.
const limit = 4

func decisions(names ...string) []clusterv1beta1.ClusterDecision {
	var out []clusterv1beta1.ClusterDecision
	for _, name := range names {
		out = append(out, clusterv1beta1.ClusterDecision{ClusterName: name})
	}
	return out
}

func page(number, group int, names ...string) Page {
	return Page{Number: number, Group: group, Decisions: decisions(names...), Name: PageName("p", number)}
}

func TestPlanPages(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		stock  Stock
		groups []Group
		want   []string
	}{
		"the first decision": {
			groups: []Group{{Decisions: decisions("a", "b")}},
			want:   []string{"create 1/0 []", "fill 1/0 [a b]"},
		},
		"nothing selected needs a page all the same": {
			groups: []Group{{}},
			want:   []string{"create 1/0 []"},
		},
		"nothing to do": {
			stock:  Stock{Pages: []Page{page(1, 0, "a", "b")}},
			groups: []Group{{Decisions: decisions("a", "b")}},
		},
		"a move is one write": {
			stock:  Stock{Pages: []Page{page(1, 0, "a", "b", "c", "d"), page(2, 0, "e", "f", "g", "h"), page(3, 0, "i")}},
			groups: []Group{{Decisions: decisions("a", "b", "c", "d", "e", "f", "h", "i", "x")}},
			want:   []string{"fill 2/0 [e f h x]"},
		},
		"a page that is empty goes": {
			stock:  Stock{Pages: []Page{page(1, 0, "a"), page(2, 0, "b")}},
			groups: []Group{{Decisions: decisions("b")}},
			want:   []string{"delete 1/0 []"},
		},
		"the last page stays": {
			stock:  Stock{Pages: []Page{page(1, 0, "a"), page(2, 0, "b")}},
			groups: []Group{{}},
			want:   []string{"fill 1/0 []", "delete 2/0 []"},
		},
		"names of others are left alone": {
			stock:  Stock{Taken: map[int]bool{1: true, 2: true}},
			groups: []Group{{Decisions: decisions("a")}},
			want:   []string{"create 3/0 []", "fill 3/0 [a]"},
		},
		"a page taken over is marked first": {
			stock:  Stock{Pages: []Page{{Number: 1, Name: "p-decision-1", Unmarked: true, Decisions: decisions("a")}}},
			groups: []Group{{Decisions: decisions("b")}},
			want:   []string{"label 1/0 [b]", "fill 1/0 [b]"},
		},
		"a cluster twice is healed": {
			stock:  Stock{Pages: []Page{page(1, 0, "a"), page(2, 0, "a", "b")}},
			groups: []Group{{Decisions: decisions("a", "b")}},
			want:   []string{"fill 2/0 [b]"},
		},
		"a change of group leaves the old page first": {
			stock:  Stock{Pages: []Page{page(1, 0, "a", "b"), page(2, 1, "c", "d")}},
			groups: []Group{{Decisions: decisions("a", "c")}, {Decisions: decisions("b", "d")}},
			want:   []string{"fill 1/0 [a]", "fill 2/1 [d]", "fill 1/0 [a c]", "fill 2/1 [b d]"},
		},
		"a group less": {
			stock:  Stock{Pages: []Page{page(1, 0, "a"), page(2, 1, "b", "c")}},
			groups: []Group{{Decisions: decisions("a", "b")}},
			want:   []string{"label 2/0 [b]", "fill 2/0 [b]"},
		},
		"a page that lost its labels": {
			stock:  Stock{Pages: []Page{{Number: 1, Group: -1, Name: "p-decision-1", Unmarked: true, Decisions: decisions("a", "b")}}},
			groups: []Group{{Decisions: decisions("a", "b")}},
			want:   []string{"label 1/0 [a b]"},
		},
		"a group is renamed": {
			stock:  Stock{Pages: []Page{page(1, 0, "a")}},
			groups: []Group{{Name: "canary", Decisions: decisions("a")}},
			want:   []string{"label 1/0 [a]"},
		},
		"an object with a name that is none of ours": {
			stock:  Stock{Pages: []Page{{Name: "odd", Decisions: decisions("a")}}},
			groups: []Group{{Decisions: decisions("a")}},
			want:   []string{"create 1/0 []", "delete 0/0 []", "fill 1/0 [a]"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range PlanPages(tt.stock, tt.groups, limit).Steps {
				got = append(got, describe(s))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func describe(s Step) string {
	kind := map[StepKind]string{CreatePage: "create", FillPage: "fill", LabelPage: "label", DeletePage: "delete"}[s.Kind]
	var names []string
	for _, d := range s.Page.Decisions {
		names = append(names, d.ClusterName)
	}
	return fmt.Sprintf("%s %d/%d %v", kind, s.Page.Number, s.Page.Group, names)
}

// store is a hub that takes the steps one by one.
type store map[int]Page

func (s store) take(step Step) {
	switch step.Kind {
	case CreatePage:
		s[step.Page.Number] = Page{Number: step.Page.Number, Group: step.Page.Group, GroupName: step.Page.GroupName, Name: PageName("p", step.Page.Number)}
	case FillPage:
		p := s[step.Page.Number]
		p.Decisions = step.Page.Decisions
		s[step.Page.Number] = p
	case LabelPage:
		p := s[step.Page.Number]
		p.Group, p.GroupName, p.Unmarked = step.Page.Group, step.Page.GroupName, false
		s[step.Page.Number] = p
	case DeletePage:
		delete(s, step.Page.Number)
	}
}

func (s store) stock() Stock {
	var out Stock
	for _, p := range s {
		out.Pages = append(out.Pages, p)
	}
	slices.SortFunc(out.Pages, func(a, b Page) int { return a.Number - b.Number })
	return out
}

// placed is a cluster in a group.
type placed struct {
	cluster string
	group   int
}

// seen is what a reader sees, and whether it sees a cluster twice.
func (s store) seen() (set map[placed]int, twice bool) {
	set = map[placed]int{}
	clusters := map[string]bool{}
	for _, p := range s {
		for _, d := range p.Decisions {
			twice = twice || clusters[d.ClusterName]
			clusters[d.ClusterName] = true
			set[placed{d.ClusterName, p.Group}] = p.Number
		}
	}
	return set, twice
}

func randomGroups(r *rand.Rand) []Group {
	groups := make([]Group, 1+r.IntN(3))
	share := r.IntN(4)
	for c := range 24 {
		if r.IntN(4) <= share {
			g := &groups[r.IntN(len(groups))]
			g.Decisions = append(g.Decisions, clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("c%02d", c)})
		}
	}
	return groups
}

// TestPlanPagesBetweenTheWrites walks through random decisions. After every
// single write a reader sees at least what was and is selected, at most what
// was or is, and nothing twice.
func TestPlanPagesBetweenTheWrites(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		hub := store{}
		for round := range 12 {
			groups := randomGroups(r)
			want := map[placed]bool{}
			for g, group := range groups {
				for _, d := range group.Decisions {
					want[placed{d.ClusterName, g}] = true
				}
			}
			old, _ := hub.seen()
			plan := PlanPages(hub.stock(), groups, limit)
			for i, step := range plan.Steps {
				hub.take(step)
				where := fmt.Sprintf("seed %d round %d after step %d (%s)", seed, round, i, describe(step))
				checkBetween(t, where, hub, old, want)
			}
			checkEnd(t, fmt.Sprintf("seed %d round %d", seed, round), hub, old, want, plan, groups)
			if t.Failed() {
				return
			}
		}
	}
}

func checkBetween(t *testing.T, where string, hub store, old map[placed]int, want map[placed]bool) {
	t.Helper()
	seen, twice := hub.seen()
	if twice {
		t.Errorf("%s: a cluster stands on two pages", where)
	}
	for p := range old {
		if _, ok := seen[p]; !ok && want[p] {
			t.Errorf("%s: %v was and will be selected, and is missing", where, p)
		}
	}
	known := map[string]bool{}
	for p := range old {
		known[p.cluster] = true
	}
	for p := range want {
		known[p.cluster] = true
	}
	for p := range seen {
		if !known[p.cluster] {
			t.Errorf("%s: %v neither was nor will be selected, and is seen", where, p)
		}
	}
	for _, p := range hub {
		if len(p.Decisions) > limit {
			t.Errorf("%s: page %d has %d decisions", where, p.Number, len(p.Decisions))
		}
	}
	if len(hub) == 0 {
		t.Errorf("%s: no page is left", where)
	}
}

func checkEnd(t *testing.T, where string, hub store, old map[placed]int, want map[placed]bool, plan Plan, groups []Group) {
	t.Helper()
	seen, _ := hub.seen()
	if len(seen) != len(want) {
		t.Errorf("%s: %d clusters at the end, want %d", where, len(seen), len(want))
	}
	for p, number := range seen {
		if !want[p] {
			t.Errorf("%s: %v at the end, not wanted", where, p)
		}
		if before, was := old[p]; was && before != number {
			t.Errorf("%s: %v went from page %d to %d", where, p, before, number)
		}
	}
	if len(plan.Pages) != len(hub) {
		t.Errorf("%s: the plan names %d pages, the hub has %d", where, len(plan.Pages), len(hub))
	}
	if again := PlanPages(hub.stock(), groups, limit); len(again.Steps) != 0 {
		t.Errorf("%s: a second plan has %d steps, first %s", where, len(again.Steps), describe(again.Steps[0]))
	}
}

// TestPlanPagesHeals starts from pages that others have spoilt.
func TestPlanPagesHeals(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		hub := store{}
		for n := 1; n <= 1+r.IntN(6); n++ {
			p := Page{Number: n, Group: r.IntN(5) - 1, Name: PageName("p", n), Unmarked: r.IntN(3) == 0}
			for range r.IntN(8) {
				p.Decisions = append(p.Decisions, clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("c%02d", r.IntN(30))})
			}
			hub[n] = p
		}
		groups := randomGroups(r)
		want := map[placed]bool{}
		for g, group := range groups {
			for _, d := range group.Decisions {
				want[placed{d.ClusterName, g}] = true
			}
		}
		plan := PlanPages(hub.stock(), groups, limit)
		for _, step := range plan.Steps {
			hub.take(step)
		}
		if _, twice := hub.seen(); twice {
			t.Errorf("seed %d: a cluster stands on two pages at the end", seed)
		}
		checkEnd(t, fmt.Sprintf("seed %d", seed), hub, nil, want, plan, groups)
	}
}

func BenchmarkPlanPages(b *testing.B) {
	for _, clusters := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprintf("%d clusters, one moves", clusters), func(b *testing.B) {
			groups := []Group{{}}
			for c := range clusters {
				groups[0].Decisions = append(groups[0].Decisions, clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("cluster-%05d", c)})
			}
			hub := store{}
			for _, step := range PlanPages(Stock{}, groups, MaxDecisions).Steps {
				hub.take(step)
			}
			stock := hub.stock()
			moved := []Group{{Decisions: slices.Clone(groups[0].Decisions)}}
			moved[0].Decisions[clusters/2].ClusterName = "cluster-99999"
			for b.Loop() {
				if plan := PlanPages(stock, moved, MaxDecisions); len(plan.Steps) != 1 {
					b.Fatalf("%d steps, want 1", len(plan.Steps))
				}
			}
		})
	}
}

func TestPlanDecisionOfANameThatIsNoLabel(t *testing.T) {
	t.Parallel()
	one := []Group{{Decisions: decisions("a")}}
	for name, tt := range map[string]struct {
		length int
		groups []Group
		want   int
	}{
		"short enough":      {length: 63, want: 1},
		"too long":          {length: 64},
		"too long, selects": {length: 64, groups: one, want: 1}, // for the hub to refuse
	} {
		if got := PlanDecision(strings.Repeat("n", tt.length), Stock{}, tt.groups).Pages; len(got) != tt.want {
			t.Errorf("%s: pages %v, want %d", name, got, tt.want)
		}
	}
}
