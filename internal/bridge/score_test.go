package bridge

import (
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

const margin = 3 * time.Minute

func hubScore(value int32, validFor time.Duration) *clusterv1alpha1.AddOnPlacementScore {
	s := NewScoreObject("c", "gpu")
	until := metav1.NewTime(noon.Add(validFor))
	s.Status = clusterv1alpha1.AddOnPlacementScoreStatus{Scores: []clusterv1alpha1.AddOnPlacementScoreItem{{Name: "gpu", Value: value}}, ValidUntil: &until}
	return s
}

func TestPlanScore(t *testing.T) {
	t.Parallel()
	wanted := func(value int32, validFor time.Duration) Score {
		return Score{Values: map[string]int32{"gpu": value}, Expiry: noon.Add(validFor)}
	}
	theirs := hubScore(1, time.Hour)
	theirs.Labels = nil
	withdrawn := NewScoreObject("c", "gpu")
	tests := map[string]struct {
		want  Score
		have  *clusterv1alpha1.AddOnPlacementScore
		do    ScoreAction
		until time.Duration // of the status, from noon
		again time.Duration // 0: at the next event
	}{
		"new":                               {want: wanted(5, time.Minute), do: CreateScore, until: margin, again: time.Minute},
		"new, and valid for long":           {want: wanted(5, time.Hour), do: CreateScore, until: time.Hour, again: 59 * time.Minute},
		"changed":                           {want: wanted(5, time.Minute), have: hubScore(4, margin), do: WriteScore, until: margin, again: time.Minute},
		"unchanged":                         {want: wanted(5, 10*time.Minute), have: hubScore(5, margin), do: KeepScore, again: 2 * time.Minute},
		"unchanged, expires first":          {want: wanted(5, time.Minute), have: hubScore(5, margin), do: KeepScore, again: time.Minute},
		"validUntil is near":                {want: wanted(5, time.Minute), have: hubScore(5, 59*time.Second), do: ExtendScore, until: margin, again: time.Minute},
		"expired":                           {want: wanted(5, 0), have: hubScore(5, margin), do: WithdrawScore},
		"expired before it was ever there":  {want: wanted(5, 0), do: KeepScore},
		"no value":                          {want: Score{}, have: hubScore(5, margin), do: WithdrawScore},
		"withdrawn already":                 {want: Score{}, have: withdrawn, do: KeepScore},
		"back again":                        {want: wanted(5, time.Minute), have: withdrawn, do: WriteScore, until: margin, again: time.Minute},
		"to be gone":                        {want: Score{Gone: true}, have: hubScore(5, margin), do: DeleteScore},
		"gone":                              {want: Score{Gone: true}, do: KeepScore},
		"somebody else's":                   {want: wanted(5, time.Minute), have: theirs, do: RefuseScore},
		"somebody else's, and none of ours": {want: Score{}, have: theirs, do: KeepScore},
		"somebody else's stays":             {want: Score{Gone: true}, have: theirs, do: KeepScore},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := PlanScore(tt.want, tt.have, noon, margin)
			if got.Action != tt.do {
				t.Fatalf("plan is %+v, want action %d", got, tt.do)
			}
			if tt.until != 0 && !got.Status.ValidUntil.Time.Equal(noon.Add(tt.until)) {
				t.Errorf("validUntil is %s, want %s", got.Status.ValidUntil, noon.Add(tt.until))
			}
			if tt.again == 0 != got.Again.IsZero() || tt.again != 0 && !got.Again.Equal(noon.Add(tt.again)) {
				t.Errorf("again at %s, want after %s", got.Again, tt.again)
			}
		})
	}
}

// TestPlanScoreOverTime follows one score through random renewals: on the
// hub it is never expired while it holds, never there once it does not, and
// written seldom.
func TestPlanScoreOverTime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		now := noon.Add(time.Duration(r.IntN(1000)) * time.Millisecond)
		want := Score{Values: map[string]int32{"gpu": 1}, Expiry: now.Add(time.Minute)}
		var have *clusterv1alpha1.AddOnPlacementScore
		writes, end := 0, now.Add(time.Hour)
		for now.Before(end) {
			plan := PlanScore(want, have, now, margin)
			switch plan.Action {
			case CreateScore, WriteScore, ExtendScore, WithdrawScore:
				have = NewScoreObject("c", "gpu")
				have.Status = plan.Status
				writes++
			case KeepScore:
			default:
				t.Fatalf("seed %d: action %d", seed, plan.Action)
			}
			holds := now.Before(want.Expiry)
			if holds != (len(have.Status.Scores) == 1) || holds && !have.Status.ValidUntil.After(now) {
				t.Fatalf("seed %d at %s: holds %t, the hub has %+v", seed, now, holds, have.Status)
			}
			again := plan.Again
			renewal := now.Add(time.Duration(5+r.IntN(30)) * time.Second)
			if r.IntN(20) == 0 {
				renewal = now.Add(90 * time.Second) // the scorer was away
			}
			if !again.IsZero() && again.Before(renewal) {
				now = again
				continue
			}
			now = renewal
			want.Expiry = now.Add(time.Minute)
		}
		if writes > 60 { // at margin*2/3 an hour takes 30; the rest are withdrawals and returns
			t.Errorf("seed %d: %d writes in an hour", seed, writes)
		}
	}
}

func TestScoreMargin(t *testing.T) {
	t.Parallel()
	if got := ScoreMargin(100, 200, 5*time.Minute); got != 5*time.Minute {
		t.Errorf("few objects: %s", got)
	}
	if got := ScoreMargin(50_000, 200, 5*time.Minute); got != 750*time.Second {
		t.Errorf("many objects: %s, want 750s", got)
	}
}

func TestScoreOf(t *testing.T) {
	t.Parallel()
	value := int32(-3)
	s := &schemas.Score{ValidFor: schemas.Duration(time.Minute), Items: []schemas.ScoreItem{{Name: "a", Value: &value}, {Name: "b"}}}
	got := ScoreOf(s, noon)
	if len(got.Values) != 1 || got.Values["a"] != -3 || !got.Expiry.Equal(noon.Add(time.Minute)) || got.Gone {
		t.Errorf("score is %+v", got)
	}
	s.HubOff = true
	if !ScoreOf(s, noon).Gone {
		t.Error("a score that is to be off the hub is on it")
	}
}
