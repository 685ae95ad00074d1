package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/internal/difftest"
	"github.com/spokewire/spokewire/pkg/events"
)

const generatedFleets = 50

var generatedSize = difftest.Size{Clusters: 8, Placements: 3}

// bothSelectTheSame lets OCM and Spokewire decide the same Placements on the
// same hub, and compares what they say: first when everything is new, then
// when much of it has changed. SEED repeats the fleets.
func bothSelectTheSame(t *testing.T, hub hubClients, bus events.Getter) {
	seed, now, started := seedOf(t), time.Now(), time.Now()
	var before, after []difftest.Fleet
	for i := range generatedFleets {
		f := difftest.Generate(seed, i, generatedSize, now)
		before, after = append(before, f), append(after, f.Change(seed, i, now))
	}
	must(t, eachFleet(t.Context(), before, func(ctx context.Context, i int) error { return createFleet(ctx, hub, &before[i]) }))
	t.Logf("%d fleets are on the hub after %s", len(before), time.Since(started).Round(time.Millisecond))
	compareAnswers(t, hub, bus, casesOf(before, now), "created")
	must(t, eachFleet(t.Context(), before, func(ctx context.Context, i int) error { return changeFleet(ctx, hub, &before[i], &after[i]) }))
	compareAnswers(t, hub, bus, casesOf(after, now), "changed")
	t.Logf("compared twice after %s", time.Since(started).Round(time.Millisecond))
}

const (
	// answerLimit is for how long answers may differ once both sides have
	// seen everything.
	answerLimit = 40 * time.Second
	// nudgeAfter is after how long OCM is made to look again. A conflict while
	// it writes a page is lost on it until the Placement's next event, or its
	// resync ten minutes later.
	nudgeAfter = 5 * time.Second
)

// compareAnswers waits until both sides have seen everything, and then until
// their answers are the same. What still differs at the end is reported.
func compareAnswers(t *testing.T, hub hubClients, bus events.Getter, cases []twins, step string) {
	t.Helper()
	bothHaveSeenEverything(t, hub, "barrier-"+step)
	nudge := time.Now().Add(nudgeAfter)
	for deadline := time.Now().Add(answerLimit); ; wait(t, 100*time.Millisecond) {
		answers, err := readAnswers(t.Context(), hub)
		must(t, err)
		c := comparison{cases: cases, answers: answers}
		if c.settled() || time.Now().After(deadline) {
			c.report(t, bus, step)
			return
		}
		if time.Now().After(nudge) {
			nudge = time.Now().Add(nudgeAfter)
			c.nudge(t, hub)
		}
	}
}

// nudge touches the native one of the twins that differ. It changes nothing
// that a decision depends on.
func (c comparison) nudge(t *testing.T, hub hubClients) {
	t.Helper()
	for _, pair := range c.cases {
		if native, direct := c.of(pair); difftest.Same(native, direct) || pair.known != "" {
			continue
		}
		touch := fmt.Appendf(nil, `{"metadata":{"annotations":{"difftest.spokewire.dev/touched":%q}}}`, time.Now().Format(time.RFC3339Nano))
		_, err := hub.ocm.ClusterV1beta1().Placements(pair.native.Namespace).Patch(t.Context(), pair.native.Name, types.MergePatchType, touch, metav1.PatchOptions{})
		must(t, err)
		t.Logf("OCM is made to look at %s again", keyOf(pair.native))
	}
}

// twins is one Placement that OCM decides, and its copy for Spokewire.
type twins struct {
	fleet          *difftest.Fleet
	native, direct *clusterv1beta1.Placement
	known          string // why they may differ
}

func casesOf(fleets []difftest.Fleet, now time.Time) []twins {
	var cases []twins
	for i := range fleets {
		for _, p := range fleets[i].Placements {
			cases = append(cases, twins{fleet: &fleets[i], native: p, direct: difftest.Direct(p), known: fleets[i].Known(p, now)})
		}
	}
	return cases
}

// comparison is all cases with what the hub shows at one moment.
type comparison struct {
	cases   []twins
	answers map[string]difftest.Answer
}

func (c comparison) of(t twins) (native, direct difftest.Answer) {
	return c.answers[keyOf(t.native)], c.answers[keyOf(t.direct)]
}

// settled reports whether every answer is given, and equal where it must be.
func (c comparison) settled() bool {
	return !slices.ContainsFunc(c.cases, func(t twins) bool {
		native, direct := c.of(t)
		return !difftest.Same(native, direct) && (t.known == "" || !native.Given() || !direct.Given())
	})
}

// report fails for each difference without an excuse, with all that is needed
// to understand it, and says how much the comparison is worth.
func (c comparison) report(t *testing.T, bus events.Getter, step string) {
	t.Helper()
	same, served, excused, outcomes := 0, 0, map[string]int{}, map[string]int{}
	for _, pair := range c.cases {
		native, direct := c.of(pair)
		outcomes[native.Satisfied]++
		if n := pair.native.Spec.NumberOfClusters; n != nil && *n > 0 && native.Selected == *n {
			served++
		}
		switch {
		case difftest.Same(native, direct):
			same++
		case pair.known != "" && native.Given() && direct.Given():
			excused[pair.known]++
		default:
			c.reportDifference(t, bus, pair, step)
		}
	}
	for _, want := range []string{"True/AllDecisionsScheduled", "False/NotAllDecisionsScheduled", "False/NoManagedClusterMatched"} {
		if outcomes[want] == 0 {
			t.Errorf("no Placement of %d came to %s, so the comparison says little", len(c.cases), want)
		}
	}
	t.Logf("%s: %d of %d Placements have the same answer, differing with an excuse: %v; %d got the number that they asked for; OCM's answers: %v",
		step, same, len(c.cases), excused, served, outcomes)
}

func (c comparison) reportDifference(t *testing.T, bus events.Getter, pair twins, step string) {
	t.Helper()
	native, direct := c.of(pair)
	m, err := bus.Last(t.Context(), events.StreamDecisions, events.DecisionSubject(events.KindPlacement, pair.direct.Namespace, pair.direct.Name))
	explanation := string(m.Data)
	if err != nil {
		explanation = err.Error()
	}
	t.Errorf("Placement %s, when all was %s:\nOCM:       %s\nSpokewire: %s\nSpokewire explains: %s\n%s--- # the Placement\n%s",
		keyOf(pair.native), step, native, direct, explanation, pair.fleet.YAML(), difftest.YAML(pair.direct))
}

// readAnswers reads what the hub shows of every Placement.
func readAnswers(ctx context.Context, hub hubClients) (map[string]difftest.Answer, error) {
	pages, err := hub.ocm.ClusterV1beta1().PlacementDecisions("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	placements, err := hub.ocm.ClusterV1beta1().Placements("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	of := map[string][]clusterv1beta1.PlacementDecision{}
	for _, page := range pages.Items {
		key := page.Namespace + "/" + page.Labels[clusterv1beta1.PlacementLabel]
		of[key] = append(of[key], page)
	}
	answers := map[string]difftest.Answer{}
	for i := range placements.Items {
		key := keyOf(&placements.Items[i])
		answers[key] = difftest.Read(&placements.Items[i], of[key])
	}
	return answers, nil
}

// bothHaveSeenEverything waits until both deciders select by the newest
// object of every kind: each follows the objects of a kind in the order in
// which they were written, so that they know all older ones too.
func bothHaveSeenEverything(t *testing.T, hub hubClients, name string) {
	t.Helper()
	marker := markerFleet(name)
	must(t, createFleet(t.Context(), hub, &marker))
	eventually(t, time.Minute, func() string {
		answers, err := readAnswers(t.Context(), hub)
		if err != nil {
			return err.Error()
		}
		var behind []string
		for _, p := range []*clusterv1beta1.Placement{marker.Placements[0], difftest.Direct(marker.Placements[0])} {
			if answer := answers[keyOf(p)]; !slices.Equal(answer.Clusters, []string{name + "-2"}) {
				behind = append(behind, keyOf(p)+": "+answer.String())
			}
		}
		return strings.Join(behind, "\n")
	})
}

// markerFleet has one Placement, of its second cluster.
func markerFleet(name string) difftest.Fleet {
	f := difftest.Fleet{
		Name: name, Namespaces: []string{name},
		Sets:       []*clusterv1beta2.ManagedClusterSet{{ObjectMeta: metav1.ObjectMeta{Name: name}}},
		Bindings:   []*clusterv1beta2.ManagedClusterSetBinding{{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: name}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: name}}},
		Placements: []*clusterv1beta1.Placement{{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: name}, Spec: bestBy(name)}},
	}
	for i, value := range []int32{1, 2} {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i+1), Labels: map[string]string{clusterv1beta2.ClusterSetLabel: name}}}
		cluster.Status.Conditions = []metav1.Condition{}
		score := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: cluster.Name}}
		score.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: name, Value: value}}
		f.Clusters, f.Scores = append(f.Clusters, cluster), append(f.Scores, score)
	}
	return f
}

// bestBy selects the one cluster with the highest score of that name.
func bestBy(score string) clusterv1beta1.PlacementSpec {
	one := int32(1)
	return clusterv1beta1.PlacementSpec{
		NumberOfClusters: &one,
		PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode: clusterv1beta1.PrioritizerPolicyModeExact,
			Configurations: []clusterv1beta1.PrioritizerConfig{{ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
				Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: score, ScoreName: score},
			}}},
		},
	}
}
