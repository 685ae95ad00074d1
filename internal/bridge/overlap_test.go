package bridge

import (
	"reflect"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// on is one page of group 0 with these clusters.
func on(clusters ...string) Stock {
	page := Page{Number: 1}
	for _, c := range clusters {
		page.Decisions = append(page.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
	}
	return Stock{Pages: []Page{page}}
}

func selecting(clusters ...string) []Group {
	return []Group{{Decisions: on(clusters...).Pages[0].Decisions}}
}

func TestAMoveBegins(t *testing.T) {
	t.Parallel()
	later, never := noon.Add(time.Minute), time.Time{}
	moving := Overlap{Arriving: map[string]bool{"b": true}, Leaving: map[string]time.Time{"a": noon}}
	unwritten := Overlap{Arriving: map[string]bool{"b": true}, Leaving: map[string]time.Time{"a": never}}
	for name, c := range map[string]struct {
		before         Overlap
		stock          Stock
		groups         []Group
		first          bool
		wantLeaving    map[string]time.Time
		wantArriving   []string
		wantOnThePages []string
	}{
		"nothing stands":                  {stock: on(), groups: selecting("a"), wantOnThePages: []string{"a"}},
		"nothing changes":                 {stock: on("a"), groups: selecting("a"), wantOnThePages: []string{"a"}},
		"nothing arrives":                 {stock: on("a", "b"), groups: selecting("a"), wantOnThePages: []string{"a"}},
		"nothing leaves":                  {stock: on("a"), groups: selecting("a", "b"), wantOnThePages: []string{"a", "b"}},
		"one takes the other's place":     {stock: on("a"), groups: selecting("b"), wantLeaving: map[string]time.Time{"a": never}, wantArriving: []string{"b"}, wantOnThePages: []string{"a", "b"}},
		"a cluster that stays is no news": {stock: on("a", "s"), groups: selecting("b", "s"), wantLeaving: map[string]time.Time{"a": never}, wantArriving: []string{"b"}, wantOnThePages: []string{"a", "b", "s"}},
		"it is not written yet":           {before: unwritten, stock: on("a"), groups: selecting("b"), wantLeaving: map[string]time.Time{"a": never}, wantArriving: []string{"b"}, wantOnThePages: []string{"a", "b"}},
		"it is written":                   {before: unwritten, stock: on("a", "b"), groups: selecting("b"), wantLeaving: map[string]time.Time{"a": later}, wantArriving: []string{"b"}, wantOnThePages: []string{"a", "b"}},
		"another leaves for the same":     {before: moving, stock: on("a", "b", "s"), groups: selecting("b"), wantLeaving: map[string]time.Time{"a": noon, "s": later}, wantArriving: []string{"b"}, wantOnThePages: []string{"a", "b", "s"}},
		"it is over":                      {before: moving, stock: on("b"), groups: selecting("b"), wantOnThePages: []string{"b"}},
		"the move goes on":                {before: moving, stock: on("a", "b"), groups: selecting("b"), wantLeaving: map[string]time.Time{"a": noon}, wantArriving: []string{"b"}, wantOnThePages: []string{"a", "b"}},
		"it goes back":                    {before: moving, stock: on("a", "b"), groups: selecting("a"), wantOnThePages: []string{"a"}},
		"it goes further":                 {before: moving, stock: on("a", "b"), groups: selecting("c"), wantLeaving: map[string]time.Time{"a": noon, "b": never}, wantArriving: []string{"c"}, wantOnThePages: []string{"a", "b", "c"}},
		"the bridge has just begun":       {first: true, stock: on("a", "b"), groups: selecting("b"), wantLeaving: map[string]time.Time{"a": later}, wantArriving: []string{"b"}, wantOnThePages: []string{"a", "b"}},
		"it has begun, and none leaves":   {first: true, stock: on("a", "b"), groups: selecting("a", "b"), wantOnThePages: []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.before.Begin(c.stock, c.groups, later, c.first)
			var arriving []string
			for name := range got.Arriving {
				arriving = append(arriving, name)
			}
			slices.Sort(arriving)
			if !reflect.DeepEqual(got.Leaving, c.wantLeaving) || !slices.Equal(arriving, c.wantArriving) {
				t.Errorf("%v leave and %v arrive, want %v and %v", got.Leaving, arriving, c.wantLeaving, c.wantArriving)
			}
			var names []string
			for _, g := range got.With(c.stock, c.groups, "") {
				for _, d := range g.Decisions {
					names = append(names, d.ClusterName)
				}
			}
			if !slices.Equal(names, c.wantOnThePages) {
				t.Errorf("the pages get %v, want %v", names, c.wantOnThePages)
			}
		})
	}
}

func TestAMoveEnds(t *testing.T) {
	t.Parallel()
	const limit = time.Minute
	rolled := func(cluster, workload string, up bool) Rollout { return Rollout{cluster, workload, up} }
	for name, c := range map[string]struct {
		rollouts []Rollout
		after    time.Duration
		gone     string
		want     []string // still leaving
		late     []string
		earlier  time.Duration // than b, a began to leave
	}{
		"no workload is known":                       {after: limit - 1, want: []string{"a", "b"}},
		"no workload is known, and the time is over": {after: limit, late: []string{"a", "b"}},
		"it has not arrived":                         {rollouts: []Rollout{rolled("a", "w", true)}, want: []string{"a", "b"}},
		"it is there, but not up":                    {rollouts: []Rollout{rolled("a", "w", true), rolled("c", "w", false)}, want: []string{"a", "b"}},
		"it is up":                                   {rollouts: []Rollout{rolled("a", "w", true), rolled("c", "w", true)}},
		"it is up, and was not where it leaves":      {rollouts: []Rollout{rolled("a", "w", false), rolled("c", "w", true)}},
		"one of two is up":                           {rollouts: []Rollout{rolled("a", "w", true), rolled("b", "v", true), rolled("c", "w", true)}, want: []string{"a", "b"}},
		"both are up":                                {rollouts: []Rollout{rolled("a", "w", true), rolled("b", "v", true), rolled("c", "w", true), rolled("c", "v", true)}},
		"what nobody leaves does not count":          {rollouts: []Rollout{rolled("c", "x", true)}, want: []string{"a", "b"}},
		"it does not arrive in time":                 {rollouts: []Rollout{rolled("a", "w", true)}, after: limit, late: []string{"a", "b"}},
		"it arrives at the last moment":              {rollouts: []Rollout{rolled("a", "w", true), rolled("c", "w", true)}, after: limit},
		"only the first of both is late":             {rollouts: []Rollout{rolled("a", "w", true)}, after: limit - time.Second, earlier: time.Second, want: []string{"b"}, late: []string{"a"}},
		"a cluster is deleted":                       {gone: "a", want: []string{"b"}},
		"a cluster is deleted, and late":             {gone: "a", after: limit, late: []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			moving := Overlap{Arriving: map[string]bool{"c": true}, Leaving: map[string]time.Time{"a": noon.Add(-c.earlier), "b": noon}}
			left := moving.End(c.rollouts, limit, noon.Add(c.after), func(name string) bool { return name != c.gone })
			if !slices.Equal(left.Names(), c.want) || !slices.Equal(left.Late, c.late) || left.Over != (len(c.want) == 0) {
				t.Errorf("%v are still leaving and %v are late (over: %t), want %v and %v", left.Names(), left.Late, left.Over, c.want, c.late)
			}
			if len(c.want) > 0 && !left.Next(limit).Equal(noon.Add(limit)) {
				t.Errorf("the next look is at %s, want %s", left.Next(limit), noon.Add(limit))
			}
			if len(moving.Leaving) != 2 {
				t.Error("the move before was changed")
			}
		})
	}
}

// Until those that arrive stand on the pages nobody's time runs.
func TestTheTimeOfAMoveRunsOnceItIsWritten(t *testing.T) {
	t.Parallel()
	moving := Overlap{}.Begin(on("a"), selecting("b", "c"), noon, false)
	half := moving.Begin(on("a", "b"), selecting("b", "c"), noon, false)
	if moving.Written(on("a")) || half.Written(on("a", "b")) || !half.Next(time.Minute).IsZero() {
		t.Errorf("the time runs before c is written: %+v", half)
	}
	whole := half.Begin(on("a", "b", "c"), selecting("b", "c"), noon, false)
	if !whole.Written(on("a", "b", "c")) || !whole.Next(time.Minute).Equal(noon.Add(time.Minute)) {
		t.Errorf("the time does not run from noon on, when all is written: %+v", whole)
	}
	if got := whole.Clusters(); !slices.Equal(got, []string{"b", "c", "a"}) {
		t.Errorf("the move is about %v", got)
	}
}

// A leaving cluster keeps its group; where the group is gone it goes to the
// first.
func TestALeavingClusterKeepsItsGroup(t *testing.T) {
	t.Parallel()
	stock := Stock{Pages: []Page{
		{Number: 1, Group: 0, Decisions: on("z").Pages[0].Decisions},
		{Number: 2, Group: 1, Decisions: on("a").Pages[0].Decisions},
	}}
	moving := Overlap{Arriving: map[string]bool{"n": true}, Leaving: map[string]time.Time{"a": noon, "z": noon}}
	two := moving.With(stock, []Group{{}, {Name: "rest", Decisions: on("n").Pages[0].Decisions}}, "")
	if got := [][]clusterv1beta1.ClusterDecision{two[0].Decisions, two[1].Decisions}; !reflect.DeepEqual(got, [][]clusterv1beta1.ClusterDecision{on("z").Pages[0].Decisions, on("a", "n").Pages[0].Decisions}) {
		t.Errorf("groups %v", got)
	}
	one := moving.With(stock, selecting("n"), "")
	if !reflect.DeepEqual(one, selecting("a", "n", "z")) {
		t.Errorf("one group: %v", one)
	}
}

func TestRolloutOf(t *testing.T) {
	t.Parallel()
	condition := func(kind string, status metav1.ConditionStatus, generation int64) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, ObservedGeneration: generation}
	}
	applied, available := condition(workv1.WorkApplied, "True", 2), condition(workv1.WorkAvailable, "True", 2)
	for name, c := range map[string]struct {
		set        string
		conditions []metav1.Condition
		deleting   bool
		want       Rollout
		wantNone   bool
	}{
		"another's":              {set: "", wantNone: true},
		"of another namespace":   {set: "nsx.w", wantNone: true},
		"new":                    {want: Rollout{"c", "ns.w", false}},
		"applied":                {conditions: []metav1.Condition{applied}, want: Rollout{"c", "ns.w", false}},
		"available":              {conditions: []metav1.Condition{applied, available}, want: Rollout{"c", "ns.w", true}},
		"was, before its change": {conditions: []metav1.Condition{applied, condition(workv1.WorkAvailable, "True", 1)}, want: Rollout{"c", "ns.w", false}},
		"progressing":            {conditions: []metav1.Condition{applied, available, condition(workv1.WorkProgressing, "True", 2)}, want: Rollout{"c", "ns.w", false}},
		"done":                   {conditions: []metav1.Condition{applied, available, condition(workv1.WorkProgressing, "False", 2)}, want: Rollout{"c", "ns.w", true}},
		"degraded":               {conditions: []metav1.Condition{applied, available, condition(workv1.WorkDegraded, "True", 2)}, want: Rollout{"c", "ns.w", false}},
		"going":                  {conditions: []metav1.Condition{applied, available}, deleting: true, want: Rollout{"c", "ns.w", false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "c", Generation: 2, Labels: map[string]string{workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey: c.set}}}
			if c.set == "" && !c.wantNone {
				w.Labels[workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey] = "ns.w"
			}
			if c.deleting {
				w.DeletionTimestamp = &metav1.Time{Time: noon}
			}
			w.Status.Conditions = c.conditions
			got, ok := RolloutOf(w, "ns")
			if ok == c.wantNone || got != c.want {
				t.Errorf("RolloutOf() = %v, %t, want %v", got, ok, c.want)
			}
		})
	}
}
