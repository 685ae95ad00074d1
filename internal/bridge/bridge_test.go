package bridge

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func placement(change ...func(*clusterv1beta1.Placement)) *clusterv1beta1.Placement {
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "p", UID: "uid-1", Generation: 2,
		Annotations: map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"},
	}}
	for _, c := range change {
		c(p)
	}
	return p
}

// native switches p over to OCM.
func native(p *clusterv1beta1.Placement) { p.Annotations = nil }

// object is a page on the hub, as the bridge writes it.
func object(name string, change ...func(*clusterv1beta1.PlacementDecision)) *clusterv1beta1.PlacementDecision {
	o := NewPageObject(placement(), Page{Number: 1})
	o.Name = name
	for _, c := range change {
		c(o)
	}
	return o
}

func label(key, value string) func(*clusterv1beta1.PlacementDecision) {
	return func(o *clusterv1beta1.PlacementDecision) {
		if value == "" {
			delete(o.Labels, key)
		} else {
			o.Labels[key] = value
		}
	}
}

func owner(uid types.UID) func(*clusterv1beta1.PlacementDecision) {
	return func(o *clusterv1beta1.PlacementDecision) {
		if uid == "" {
			o.OwnerReferences = nil
		} else {
			o.OwnerReferences[0].UID = uid
		}
	}
}

func selects(names ...string) func(*clusterv1beta1.PlacementDecision) {
	return func(o *clusterv1beta1.PlacementDecision) { o.Status.Decisions = decisions(names...) }
}

func TestPageNumber(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"p-decision-1": 1, "p-decision-12": 12, "p-decision-0": 0, "p-decision-01": 0, "p-decision--1": 0,
		"p-decision-": 0, "p-decision-x": 0, "q-decision-1": 0, "p": 0, "p-decision-1-decision-2": 0,
	} {
		if got := PageNumber("p", name); got != want {
			t.Errorf("PageNumber(p, %s) = %d, want %d", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"p-decision-3": "p", "a-decision-1-decision-2": "a-decision-1", "-decision-1": "", "p": "", "p-decision-x": "",
	} {
		if got := PlacementOfName(name); got != want {
			t.Errorf("PlacementOfName(%s) = %q, want %q", name, got, want)
		}
	}
}

func TestTakeStock(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		object                   *clusterv1beta1.PlacementDecision
		ours, unmarked           bool
		stale, foreign, occupied bool
	}{
		"ours":                              {object: object("p-decision-1"), ours: true},
		"left behind by OCM":                {object: object("p-decision-1", label(LabelManagedBy, "")), ours: true, unmarked: true},
		"its placement label was taken":     {object: object("p-decision-1", label(clusterv1beta1.PlacementLabel, "")), ours: true, unmarked: true},
		"its owner was taken":               {object: object("p-decision-1", owner("")), ours: true, unmarked: true},
		"of an earlier Placement":           {object: object("p-decision-1", owner("uid-0")), stale: true},
		"somebody else manages it":          {object: object("p-decision-1", label(LabelManagedBy, "them")), foreign: true, occupied: true},
		"written by hand":                   {object: object("by-hand", owner(""), label(LabelManagedBy, "")), foreign: true},
		"only the name is like one of ours": {object: object("p-decision-1", owner(""), label(LabelManagedBy, ""), label(clusterv1beta1.PlacementLabel, "q")), occupied: true},
		"OCM's of an earlier Placement":     {object: object("p-decision-1", owner("uid-0"), label(LabelManagedBy, "")), foreign: true, occupied: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := TakeStock(placement(), []*clusterv1beta1.PlacementDecision{tt.object})
			if got := len(s.Pages) == 1; got != tt.ours || got && s.Pages[0].Unmarked != tt.unmarked {
				t.Errorf("pages are %+v", s.Pages)
			}
			if len(s.Stale) == 1 != tt.stale || len(s.Foreign) == 1 != tt.foreign || s.Taken[1] != tt.occupied {
				t.Errorf("stock is %+v", s)
			}
		})
	}
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		object      *clusterv1beta1.PlacementDecision
		uid, living string
		want        bool
	}{
		"of the Placement that is gone":       {object("p-decision-1"), "uid-1", "", true},
		"any, for a tombstone without a uid":  {object("p-decision-1"), "", "uid-1", true},
		"of the Placement, which lives":       {object("p-decision-1"), "uid-1", "uid-1", true},
		"of a new Placement of the same name": {object("p-decision-1"), "uid-0", "uid-1", false},
		"of an even older one":                {object("p-decision-1", owner("uid-0")), "uid-1", "", true},
		"not ours":                            {object("p-decision-1", label(LabelManagedBy, "")), "uid-1", "", false},
		"without an owner":                    {object("p-decision-1", owner("")), "uid-1", "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Orphans("p", tt.uid, tt.living, []*clusterv1beta1.PlacementDecision{tt.object})
			if len(got) == 1 != tt.want {
				t.Errorf("orphans are %v", got)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	direct := func(uid string) *schemas.PlacementDecision {
		return &schemas.PlacementDecision{Placement: schemas.PlacementRef{Namespace: "ns", Name: "p", UID: uid}, Mode: schemas.ModeDirect, Scheduler: SchedulerSpokewire}
	}
	shadow := direct("uid-1")
	shadow.Mode = schemas.ModeShadow
	theirs := direct("uid-1")
	theirs.Mode, theirs.Scheduler = schemas.ModeNative, SchedulerOCM
	tests := map[string]struct {
		decision  *schemas.PlacementDecision
		placement *clusterv1beta1.Placement
		want      Action
		reason    string
	}{
		"apply":                  {direct("uid-1"), placement(), Apply, ""},
		"of another object":      {direct("uid-0"), placement(), Refuse, ReasonUIDMismatch},
		"no Placement":           {direct("uid-1"), nil, Refuse, ReasonNotFound},
		"OCM decides again":      {direct("uid-1"), placement(native), Release, ReasonNotDirect},
		"annotation is not true": {direct("uid-1"), placement(func(p *clusterv1beta1.Placement) { p.Annotations[clusterv1beta1.PlacementDisableAnnotation] = "True" }), Release, ReasonNotDirect},
		"being deleted":          {direct("uid-1"), placement(func(p *clusterv1beta1.Placement) { p.DeletionTimestamp = &metav1.Time{Time: noon} }), Refuse, ReasonDeleting},
		"shadow":                 {shadow, placement(), Ignore, ""},
		"OCM's own":              {theirs, placement(native), Release, ""},
		"OCM's own, of before":   {theirs, placement(), Ignore, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Judge(tt.decision, tt.placement); got.Action != tt.want || got.Reason != tt.reason {
				t.Errorf("verdict is %+v, want %d %s", got, tt.want, tt.reason)
			}
		})
	}
}

func TestDesired(t *testing.T) {
	t.Parallel()
	d := &schemas.PlacementDecision{Clusters: []schemas.SelectedCluster{{Name: "b", Score: 9}, {Name: "a", Score: 3}}}
	for sortBy, want := range map[clusterv1beta1.PlacementSortByType]string{
		"": "a", clusterv1beta1.PlacementSortByClusterName: "a", clusterv1beta1.PlacementSortByScore: "b",
	} {
		groups, err := Desired(d, sortBy)
		if err != nil || len(groups) != 1 || groups[0].Decisions[0].ClusterName != want {
			t.Errorf("sorted by %q: %+v (%v), want %s first", sortBy, groups, err, want)
		}
	}
	d.Clusters[1].Group = 1
	var field *schemas.FieldError
	if _, err := Desired(d, ""); !errors.As(err, &field) || field.Field != "clusters[1].group" {
		t.Errorf("a group that is not there: %v", err)
	}
}

func TestPlacementStatus(t *testing.T) {
	t.Parallel()
	d := &schemas.PlacementDecision{
		Clusters:   []schemas.SelectedCluster{{Name: "a"}, {Name: "b", Group: 1}},
		Groups:     []schemas.DecisionGroup{{Name: "canary"}, {}},
		Conditions: []schemas.Condition{{Type: "PlacementSatisfied", Status: "True", Reason: "All"}},
	}
	groups, err := Desired(d, "")
	if err != nil {
		t.Fatal(err)
	}
	p := placement()
	p.Status.Conditions = []metav1.Condition{{Type: "Theirs", Status: "True"}}
	pages := PlanPages(Stock{}, groups, MaxDecisions).Pages
	status, differs := PlacementStatus(p, d, groups, pages, noon)
	want := clusterv1beta1.PlacementStatus{
		NumberOfSelectedClusters: 2,
		DecisionGroups: []clusterv1beta1.DecisionGroupStatus{
			{DecisionGroupIndex: 0, DecisionGroupName: "canary", Decisions: []string{"p-decision-1"}, ClustersCount: 1},
			{DecisionGroupIndex: 1, Decisions: []string{"p-decision-2"}, ClustersCount: 1},
		},
		Conditions: []metav1.Condition{
			{Type: "Theirs", Status: "True"},
			{Type: "PlacementSatisfied", Status: "True", Reason: "All", LastTransitionTime: metav1.NewTime(noon)},
		},
	}
	if diff := cmp.Diff(want, status); diff != "" || !differs {
		t.Errorf("differs %t (-want +got):\n%s", differs, diff)
	}
	p.Status = status
	if again, differs := PlacementStatus(p, d, groups, pages, noon.Add(time.Hour)); differs {
		t.Errorf("an hour later it differs: %+v", again)
	}
	d.Conditions[0].Status = "False"
	if changed, _ := PlacementStatus(p, d, groups, pages, noon.Add(time.Hour)); !changed.Conditions[1].LastTransitionTime.Equal(&metav1.Time{Time: noon.Add(time.Hour)}) {
		t.Errorf("conditions are %+v", changed.Conditions)
	}
}

func TestScoreTime(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(d)} }
	for name, tt := range map[string]struct {
		limit    string
		last     *metav1.Time
		decided  time.Duration
		selected int32 // by the status as it is; the decision selects 1
		want     *metav1.Time
	}{
		"first":                          {limit: "1m", selected: 1, want: at(0)},
		"whole seconds":                  {limit: "1m", selected: 1, decided: 1500 * time.Millisecond, want: at(time.Second)},
		"within the limit":               {limit: "1m", selected: 1, last: at(0), decided: 59 * time.Second, want: at(0)},
		"within the limit, with another": {limit: "1m", selected: 2, last: at(0), decided: 59 * time.Second, want: at(59 * time.Second)},
		"after the limit":                {limit: "1m", selected: 1, last: at(0), decided: time.Minute, want: at(time.Minute)},
		"a limit that cannot be read":    {limit: "9999999999999h", selected: 1, last: at(0), decided: time.Minute, want: at(time.Minute)},
		"not backwards":                  {limit: "1m", selected: 2, last: at(0), decided: -time.Hour, want: at(0)},
		"no such field on the hub":       {selected: 2, decided: time.Hour},
	} {
		d := &schemas.PlacementDecision{Clusters: []schemas.SelectedCluster{{Name: "a"}}, Now: noon.Add(tt.decided)}
		groups, err := Desired(d, "")
		if err != nil {
			t.Fatal(err)
		}
		p := placement()
		p.Spec.ScoreRateLimit = tt.limit
		pages := PlanPages(Stock{}, groups, MaxDecisions).Pages
		p.Status, _ = PlacementStatus(p, &schemas.PlacementDecision{Clusters: d.Clusters}, groups, pages, noon)
		p.Status.NumberOfSelectedClusters, p.Status.LastScoreUpdateTime = tt.selected, tt.last
		got, differs := PlacementStatus(p, d, groups, pages, noon)
		if !got.LastScoreUpdateTime.Equal(tt.want) {
			t.Errorf("%s: it is %v, want %v", name, got.LastScoreUpdateTime, tt.want)
		}
		if want := tt.selected != 1 || !tt.last.Equal(tt.want); differs != want {
			t.Errorf("%s: differs is %t, want %t", name, differs, want)
		}
	}
}

func TestObservedDecision(t *testing.T) {
	t.Parallel()
	second := object("p-decision-2", selects("c"))
	tenth := object("p-decision-10", selects("b", ""))
	other := object("p-decision-1", selects("x"), label(clusterv1beta1.PlacementLabel, "q"))
	got := ObservedDecision(placement(), []*clusterv1beta1.PlacementDecision{tenth, other, second})
	want := &schemas.ObservedDecision{
		Placement: schemas.PlacementRef{Namespace: "ns", Name: "p", UID: "uid-1"}, Writer: SchedulerSpokewire,
		Clusters: []schemas.ObservedCluster{{Name: "c"}, {Name: "b"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := ObservedDecision(placement(), nil); got != nil {
		t.Errorf("without pages it is %+v", got)
	}
	for name, tt := range map[string]struct {
		page *clusterv1beta1.PlacementDecision
		want string
	}{
		"OCM's":             {object("p-decision-2", label(LabelManagedBy, "")), SchedulerOCM},
		"by hand":           {object("p-decision-2", owner("")), WriterOther},
		"of another object": {object("p-decision-2", owner("uid-0")), WriterOther},
	} {
		if got := ObservedDecision(placement(), []*clusterv1beta1.PlacementDecision{tt.page}).Writer; got != tt.want {
			t.Errorf("%s: writer is %s, want %s", name, got, tt.want)
		}
	}
}

func TestNative(t *testing.T) {
	t.Parallel()
	page := object("p-decision-1", label(LabelManagedBy, ""), selects("b", "a"))
	pages := []*clusterv1beta1.PlacementDecision{page}
	first := Native(placement(native), pages, nil, noon)
	if first == nil || first.Mode != schemas.ModeNative || len(first.Added) != 2 || first.Validate() != nil {
		t.Fatalf("decision is %+v", first)
	}
	if again := Native(placement(native), pages, first, noon.Add(time.Hour)); again != nil {
		t.Errorf("the same again is %+v", again)
	}
	if d := Native(placement(), pages, nil, noon); d != nil {
		t.Errorf("of a direct Placement it is %+v", d)
	}
	if d := Native(placement(native), []*clusterv1beta1.PlacementDecision{object("p-decision-1")}, nil, noon); d != nil {
		t.Errorf("of our own pages it is %+v", d)
	}
	page.Status.Decisions = decisions("b", "c")
	second := Native(placement(native), pages, first, noon)
	if diff := cmp.Diff([][]string{{"c"}, {"a"}}, [][]string{second.Added, second.Removed}); diff != "" {
		t.Errorf("added and removed (-want +got):\n%s", diff)
	}
}

func TestHeartbeatIsNoChange(t *testing.T) {
	t.Parallel()
	c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u", ResourceVersion: "1"}}
	c.Status.Conditions = []metav1.Condition{{Type: "Available", Status: "True", LastTransitionTime: metav1.NewTime(noon)}}
	before, _ := json.Marshal(Cluster(c))
	c.ResourceVersion = "2"
	c.Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(time.Minute))
	c.Status.Conditions[0].Message = "still there"
	after, _ := json.Marshal(Cluster(c))
	if string(before) != string(after) {
		t.Errorf("%s became %s", before, after)
	}
}

func TestAddOnScoreOfOursIsNotTold(t *testing.T) {
	t.Parallel()
	if got := AddOnScore(NewScoreObject("c", "gpu")); got != nil {
		t.Errorf("it is %+v", got)
	}
	until := metav1.NewTime(noon)
	theirs := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "c", UID: "u"}}
	theirs.Status = clusterv1alpha1.AddOnPlacementScoreStatus{Scores: []clusterv1alpha1.AddOnPlacementScoreItem{{Name: "i", Value: 4}}, ValidUntil: &until}
	want := &schemas.AddOnScore{Cluster: "c", Name: "x", UID: "u", Scores: map[string]int32{"i": 4}, ValidUntil: &noon}
	if diff := cmp.Diff(want, AddOnScore(theirs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
