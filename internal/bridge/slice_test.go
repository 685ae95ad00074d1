package bridge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// beside is where OCM's copier puts the ClusterProfiles of a test's clusters.
func beside(cluster string) sig.ClusterProfileReference {
	return sig.ClusterProfileReference{Namespace: "ns", Name: cluster}
}

func chosen(names ...string) *Chosen {
	return &Chosen{Clusters: decisions(names...), Scheduler: SchedulerSpokewire}
}

// slice is one as the bridge leaves it.
func slice(n int, names ...string) *sig.PlacementDecision {
	p := placement()
	s := &slicer{name: p.Name, placement: p, scheduler: SchedulerSpokewire, mine: map[string]*sig.PlacementDecision{}}
	var held []clusterv1beta1.ClusterDecision
	for _, name := range names {
		held = append(held, clusterv1beta1.ClusterDecision{ClusterName: "ns/" + name})
	}
	s.put(Page{Number: n + 1, Decisions: held})
	return s.plan.Steps[0].Slice
}

func but(s *sig.PlacementDecision, change func(*sig.PlacementDecision)) *sig.PlacementDecision {
	change(s)
	return s
}

func told(steps []SliceStep) []string {
	var out []string
	for _, s := range steps {
		verb := "update"
		switch {
		case s.Create:
			verb = "create"
		case s.Delete:
			verb = "delete"
		}
		out = append(out, fmt.Sprintf("%s %s %v", verb, strings.TrimPrefix(s.Slice.Name, placement().Name+"-slice-"), clustersOf(s.Slice)))
	}
	return out
}

func clustersOf(s *sig.PlacementDecision) []string {
	var out []string
	for _, d := range s.Decisions {
		out = append(out, d.ClusterProfileRef.Name)
	}
	return out
}

func TestPlanSlices(t *testing.T) {
	t.Parallel()
	hundred := make([]string, 100)
	for i := range hundred {
		hundred[i] = fmt.Sprintf("c%03d", i)
	}
	copied := func(name string, names ...string) *sig.PlacementDecision {
		return but(slice(0, names...), func(s *sig.PlacementDecision) {
			s.Name, s.OwnerReferences, s.SchedulerName = name, nil, ManagerOCM
			delete(s.Labels, LabelManagedBy)
			s.Labels[sig.LabelClusterManagerKey] = ManagerOCM
		})
	}
	tests := map[string]struct {
		gone    bool
		chosen  *Chosen
		have    []*sig.PlacementDecision
		want    []string
		foreign []string
	}{
		"the first decision":             {chosen: chosen("a", "b"), want: []string{"create 0 [a b]"}},
		"nothing selected has a slice":   {chosen: chosen(), want: []string{"create 0 []"}},
		"not scheduled yet, in OCM":      {chosen: chosen(""), want: []string{"create 0 []"}},
		"nothing decided has none":       {},
		"nothing to do":                  {chosen: chosen("a"), have: []*sig.PlacementDecision{slice(0, "a")}},
		"a move is one write":            {chosen: chosen("b"), have: []*sig.PlacementDecision{slice(0, "a")}, want: []string{"update 0 [b]"}},
		"a cluster that OCM names twice": {chosen: chosen("a", "b", "a"), want: []string{"create 0 [a b]"}},
		"more than a hundred":            {chosen: chosen(append(hundred, "z")...), have: []*sig.PlacementDecision{slice(0, hundred...)}, want: []string{"create 1 [z]"}},
		"a slice that is empty goes":     {chosen: chosen("b"), have: []*sig.PlacementDecision{slice(0, "a"), slice(1, "b")}, want: []string{"delete 0 [a]"}},
		"the Placement is gone":          {gone: true, chosen: chosen("a"), have: []*sig.PlacementDecision{slice(0, "a")}, want: []string{"delete 0 [a]"}},
		"the decision is gone":           {have: []*sig.PlacementDecision{slice(0, "a")}, want: []string{"delete 0 [a]"}},
		"one of a Placement that had the name": {chosen: chosen("a"), have: []*sig.PlacementDecision{
			but(slice(0, "a"), func(s *sig.PlacementDecision) { s.OwnerReferences[0].UID = "before" }),
		}, want: []string{"update 0 [a]"}},
		"our label was taken off": {chosen: chosen("a"), have: []*sig.PlacementDecision{
			but(slice(0, "a"), func(s *sig.PlacementDecision) { delete(s.Labels, LabelManagedBy) }),
		}, want: []string{"update 0 [a]"}},
		"somebody's own label stays": {chosen: chosen("a"), have: []*sig.PlacementDecision{
			but(slice(0, "a"), func(s *sig.PlacementDecision) { s.Labels["team"] = "x" }),
		}},
		"a name that somebody has": {chosen: chosen("a"), have: []*sig.PlacementDecision{
			but(slice(0), func(s *sig.PlacementDecision) { s.Labels, s.OwnerReferences = nil, nil }),
		}, want: []string{"create 1 [a]"}},
		"OCM's copier has the word": {chosen: chosen("a"), have: []*sig.PlacementDecision{
			slice(0, "a"), copied("p-decision-1", "a"),
		}, want: []string{"delete 0 [a]"}, foreign: []string{"p-decision-1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := placement()
			if tt.gone {
				p = nil
			}
			plan := PlanSlices(placement().Name, p, tt.chosen, tt.have, beside)
			if diff := cmp.Diff(tt.want, told(plan.Steps)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.foreign, plan.Foreign); diff != "" {
				t.Errorf("foreign (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASliceSaysWhatTheKEPAsks(t *testing.T) {
	t.Parallel()
	p := placement()
	plan := PlanSlices(p.Name, p, &Chosen{Scheduler: SchedulerSpokewire, Clusters: []clusterv1beta1.ClusterDecision{{ClusterName: "a", Reason: "why"}}}, nil,
		func(string) sig.ClusterProfileReference {
			return sig.ClusterProfileReference{Namespace: "fleet", Name: "a"}
		})
	s := plan.Steps[0].Slice
	want := map[string]string{
		sig.PlacementKeyLabel: p.Name, sig.DecisionKeyLabel: p.Name, sig.DecisionIndexLabel: "0", LabelManagedBy: ManagedBy,
	}
	if diff := cmp.Diff(want, s.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	decided := []sig.ClusterDecision{{ClusterProfileRef: sig.ClusterProfileReference{Namespace: "fleet", Name: "a"}, Reason: "why"}}
	if diff := cmp.Diff(decided, s.Decisions); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	if s.Namespace != p.Namespace || s.SchedulerName != SchedulerSpokewire || !metav1.IsControlledBy(s, p) {
		t.Errorf("the slice is %+v", s)
	}
}

func TestChosenFor(t *testing.T) {
	t.Parallel()
	direct := placement()
	ocm := placement(native)
	decided := &schemas.PlacementDecision{
		Placement: schemas.PlacementRef{Namespace: direct.Namespace, Name: direct.Name, UID: string(direct.UID)},
		Mode:      schemas.ModeDirect, Scheduler: SchedulerSpokewire, Clusters: []schemas.SelectedCluster{{Name: "b"}, {Name: "a"}},
	}
	of := func(other string) *schemas.PlacementDecision {
		d := *decided
		d.Placement.UID = other
		return &d
	}
	ours := []*clusterv1beta1.PlacementDecision{object(PageName(direct.Name, 1), selects("x"))}
	theirs := []*clusterv1beta1.PlacementDecision{object(PageName(direct.Name, 1), selects("y"), label(LabelManagedBy, ""))}
	tests := map[string]struct {
		p     *clusterv1beta1.Placement
		d     *schemas.PlacementDecision
		pages []*clusterv1beta1.PlacementDecision
		want  *Chosen
	}{
		"gone":                               {d: decided, pages: ours},
		"nothing decided":                    {p: direct},
		"ours, as decided":                   {direct, decided, ours, &Chosen{decisions("a", "b"), SchedulerSpokewire}},
		"ours, refused, is what stands":      {direct, of("another"), ours, &Chosen{decisions("x"), SchedulerSpokewire}},
		"OCM's":                              {ocm, decided, theirs, &Chosen{decisions("y"), ManagerOCM}},
		"a page that another Placement owns": {p: ocm, pages: []*clusterv1beta1.PlacementDecision{object(PageName(direct.Name, 1), selects("x"), owner("another"))}},
		"handed to us, and not decided by us yet": {direct, nil, theirs, &Chosen{decisions("y"), ManagerOCM}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, ChosenFor(tt.p, tt.d, tt.pages)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// While a move overlaps the slices have what the PlacementDecisions have.
func TestWhatStaysIsChosenToo(t *testing.T) {
	t.Parallel()
	c := chosen("b", "c")
	c.Keep(placement(), []*clusterv1beta1.PlacementDecision{
		object(PageName("p", 1), selects("z", "b")), object(PageName("p", 2), selects("a")), object(PageName("p", 3), selects("x"), owner("another")),
	})
	if diff := cmp.Diff(chosen("b", "c", "a", "z"), c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whoever reads all slices between two writes sees each cluster once, what
// was and is chosen in any case, and nothing that neither was nor is.
func TestSlicesBetweenTheWrites(t *testing.T) {
	t.Parallel()
	p := placement()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5)) //nolint:gosec // a test's numbers need not be secret
		hub := map[string]*sig.PlacementDecision{}
		before := map[string]bool{}
		for range 30 {
			var names []string
			for i := range 450 {
				if r.IntN(450) < 1+r.IntN(450) {
					names = append(names, fmt.Sprintf("c%d", i))
				}
			}
			r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			names = names[:r.IntN(len(names)+1)]
			after := map[string]bool{}
			for _, name := range names {
				after[name] = true
			}
			var have []*sig.PlacementDecision
			for _, s := range hub {
				have = append(have, s)
			}
			for _, step := range PlanSlices(p.Name, p, chosen(names...), have, beside).Steps {
				if _, there := hub[step.Slice.Name]; step.Create == there {
					t.Fatalf("seed %d: %s of slice %s, which is there: %t", seed, told([]SliceStep{step}), step.Slice.Name, there)
				}
				hub[step.Slice.Name] = step.Slice
				if step.Delete {
					delete(hub, step.Slice.Name)
				}
				between(t, seed, hub, before, after)
			}
			between(t, seed, hub, after, after)
			before = after
		}
	}
}

func between(t *testing.T, seed uint64, hub map[string]*sig.PlacementDecision, before, after map[string]bool) {
	t.Helper()
	seen := map[string]int{}
	for _, s := range hub {
		if len(s.Decisions) > MaxDecisions {
			t.Fatalf("seed %d: slice %s holds %d", seed, s.Name, len(s.Decisions))
		}
		for _, name := range clustersOf(s) {
			seen[name]++
		}
	}
	for name, n := range seen {
		if n > 1 || !before[name] && !after[name] {
			t.Fatalf("seed %d: a reader sees %s %d times; it was chosen %t and is %t", seed, name, n, before[name], after[name])
		}
	}
	for name := range before {
		if after[name] && seen[name] == 0 {
			t.Fatalf("seed %d: a reader misses %s, which was and is chosen", seed, name)
		}
	}
}

func TestSliceNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"train-slice-0": "train 0", "a-slice-1-slice-12": "a-slice-1 12", "train-slice-01": " -1", "train-slice--1": " -1",
		"-slice-1": " -1", "train": " -1", "train-decision-1": " -1",
	} {
		placement, n := PlacementOfSlice(name)
		if got := fmt.Sprintf("%s %d", placement, n); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if !slices.Equal([]string{SliceName("train", 3)}, []string{"train-slice-3"}) {
		t.Error(SliceName("train", 3))
	}
}
