package bridge

import (
	"cmp"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Score is what the hub is to know of one scorer's score of one cluster.
type Score struct {
	// Values are the items that have one.
	Values map[string]int32
	// Expiry is when they cease to hold, in server time.
	Expiry time.Time
	// Gone is true where the hub is to have no object at all: the score was
	// deleted, or is to be kept off the hub.
	Gone bool
}

// ScoreOf reads s, which the bus received at receivedAt.
func ScoreOf(s *schemas.Score, receivedAt time.Time) Score {
	out := Score{Values: map[string]int32{}, Expiry: s.Expiry(receivedAt), Gone: s.HubOff}
	for _, item := range s.Items {
		if item.Value != nil {
			out.Values[item.Name] = *item.Value
		}
	}
	return out
}

// ScoreAction says what to do with one AddOnPlacementScore.
type ScoreAction int

// Actions on a score.
const (
	KeepScore     ScoreAction = iota // nothing
	CreateScore                      // create the object, then write its status
	WriteScore                       // values have changed
	ExtendScore                      // only validUntil is written, before it passes
	WithdrawScore                    // no value holds any more: clear the status
	DeleteScore                      // delete the object
	RefuseScore                      // the object is somebody else's
)

// ScorePlan is an action, the status to write, and when to look again (the
// zero time: at the next event).
type ScorePlan struct {
	Action ScoreAction
	Status clusterv1alpha1.AddOnPlacementScoreStatus
	Again  time.Time
}

// ScoreMargin is how far ahead validUntil is written: least, or as long as
// three rounds of writing all objects within the budget (writes a second)
// take, whichever is longer. A third of it before the end validUntil is
// written anew, so extensions take at most half of the budget.
func ScoreMargin(objects int, budget float64, least time.Duration) time.Duration {
	return max(least, time.Duration(3*float64(objects)/budget*float64(time.Second)))
}

// PlanScore plans for want, given the object that the hub has (nil: none).
// OCM does nothing when a score expires, so a score is withdrawn when it
// does, and validUntil only guards against the bridge itself being down.
func PlanScore(want Score, have *clusterv1alpha1.AddOnPlacementScore, now time.Time, margin time.Duration) ScorePlan {
	holds := !want.Gone && len(want.Values) > 0 && now.Before(want.Expiry)
	switch {
	case !holds && (have == nil || !Ours(have)):
		return ScorePlan{Action: KeepScore}
	case want.Gone:
		return ScorePlan{Action: DeleteScore}
	case !holds && len(have.Status.Scores) == 0:
		return ScorePlan{Action: KeepScore}
	case !holds:
		return ScorePlan{Action: WithdrawScore, Status: clusterv1alpha1.AddOnPlacementScoreStatus{Conditions: have.Status.Conditions}}
	case have != nil && !Ours(have):
		return ScorePlan{Action: RefuseScore}
	}
	return planHolding(want, have, now, margin)
}

func planHolding(want Score, have *clusterv1alpha1.AddOnPlacementScore, now time.Time, margin time.Duration) ScorePlan {
	until := now.Add(margin)
	if want.Expiry.After(until) {
		until = want.Expiry
	}
	// The API server keeps whole seconds.
	until = until.Add(time.Second - 1).Truncate(time.Second)
	plan := ScorePlan{Again: earlier(want.Expiry, until.Add(-margin/3))}
	plan.Status.Scores = items(want.Values)
	plan.Status.ValidUntil = &metav1.Time{Time: until}
	if have == nil {
		plan.Action = CreateScore
		return plan
	}
	plan.Status.Conditions = have.Status.Conditions
	switch {
	case !maps.Equal(want.Values, valuesOf(have)):
		plan.Action = WriteScore
	case have.Status.ValidUntil == nil || !have.Status.ValidUntil.After(now.Add(margin/3)):
		plan.Action = ExtendScore
	default:
		plan.Action = KeepScore
		plan.Again = earlier(want.Expiry, have.Status.ValidUntil.Add(-margin/3))
	}
	return plan
}

// NewScoreObject is the object to create. Its status is not taken at
// creation.
func NewScoreObject(cluster, scorer string) *clusterv1alpha1.AddOnPlacementScore {
	return &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{
		Name: scorer, Namespace: cluster, Labels: map[string]string{LabelManagedBy: ManagedBy},
	}}
}

func items(values map[string]int32) []clusterv1alpha1.AddOnPlacementScoreItem {
	out := make([]clusterv1alpha1.AddOnPlacementScoreItem, 0, len(values))
	for name, value := range values {
		out = append(out, clusterv1alpha1.AddOnPlacementScoreItem{Name: name, Value: value})
	}
	slices.SortFunc(out, func(a, b clusterv1alpha1.AddOnPlacementScoreItem) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func valuesOf(s *clusterv1alpha1.AddOnPlacementScore) map[string]int32 {
	out := make(map[string]int32, len(s.Status.Scores))
	for _, item := range s.Status.Scores {
		out[item.Name] = item.Value
	}
	return out
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
