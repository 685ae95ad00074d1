package placement

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestTaints(t *testing.T) {
	t.Parallel()
	seconds := func(n int64) *int64 { return &n }
	tests := map[string]struct {
		taint       func(*schemas.Cluster)
		tolerations []clusterv1beta1.Toleration
		selected    bool
		at          time.Duration // after the taint was added
		want        bool
		wantTimer   time.Duration
	}{
		"NoSelect":                       {taint: taintedWith("k", "v", "NoSelect")},
		"NoSelect, selected before":      {taint: taintedWith("k", "v", "NoSelect"), selected: true},
		"PreferNoSelect":                 {taint: taintedWith("k", "v", "PreferNoSelect"), want: true},
		"NoSelectIfNew, new":             {taint: taintedWith("k", "v", "NoSelectIfNew")},
		"NoSelectIfNew, selected before": {taint: taintedWith("k", "v", "NoSelectIfNew"), selected: true, want: true},
		"tolerated by value":             {taint: taintedWith("k", "v", "NoSelect"), tolerations: []clusterv1beta1.Toleration{{Key: "k", Value: "v"}}, want: true},
		"another value":                  {taint: taintedWith("k", "v", "NoSelect"), tolerations: []clusterv1beta1.Toleration{{Key: "k", Operator: "Equal", Value: "w"}}},
		"tolerated by existence":         {taint: taintedWith("k", "v", "NoSelect"), tolerations: []clusterv1beta1.Toleration{{Key: "k", Operator: "Exists"}}, want: true},
		"all tolerated":                  {taint: taintedWith("k", "v", "NoSelect"), tolerations: []clusterv1beta1.Toleration{{Operator: "Exists"}}, want: true},
		"another effect":                 {taint: taintedWith("k", "v", "NoSelect"), tolerations: []clusterv1beta1.Toleration{{Operator: "Exists", Effect: "NoSelectIfNew"}}},
		"another key":                    {taint: taintedWith("k", "v", "NoSelect"), tolerations: []clusterv1beta1.Toleration{{Key: "l", Operator: "Exists"}}},
		"the second tolerates":           {taint: taintedWith("k", "v", "NoSelect"), tolerations: []clusterv1beta1.Toleration{{Key: "l", Operator: "Exists"}, {Key: "k", Operator: "Exists"}}, want: true},
		"for a while":                    {taint: taintedWith("k", "v", "NoSelect"), tolerations: []clusterv1beta1.Toleration{{Key: "k", Operator: "Exists", TolerationSeconds: seconds(10)}}, at: 9 * time.Second, want: true, wantTimer: 10 * time.Second},
		"no longer":                      {taint: taintedWith("k", "v", "NoSelect"), tolerations: []clusterv1beta1.Toleration{{Key: "k", Operator: "Exists", TolerationSeconds: seconds(10)}}, at: 10 * time.Second},
		"for 285 years":                  {taint: taintedWith("k", "v", "NoSelect"), tolerations: []clusterv1beta1.Toleration{{Key: "k", Operator: "Exists", TolerationSeconds: seconds(9_000_000_000)}}, want: true},
		"for 285 years from no time":     {taint: added(time.Time{}), tolerations: []clusterv1beta1.Toleration{{Key: "k", Operator: "Exists", TolerationSeconds: seconds(9_000_000_000)}}},
		"an unknown operator":            {taint: taintedWith("k", "v", "NoSelect"), tolerations: []clusterv1beta1.Toleration{{Key: "k", Operator: "Like", Value: "v"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.now = start.Add(tt.at)
			w.cluster("a", tt.taint)
			w.cluster("b")
			prior := selecting("b")
			if tt.selected {
				prior = selecting("a", "b")
			}
			d := w.decide(place(t, clusterv1beta1.PlacementSpec{Tolerations: tt.tolerations}), prior)
			if got := slices.Contains(SelectedNames(&d), "a"); got != tt.want {
				t.Errorf("selected %v, want %v", got, tt.want)
			}
			if got := d.Timers["Toleration"]; tt.wantTimer != 0 && !got.Equal(start.Add(tt.wantTimer)) {
				t.Errorf("timer %v, want %v after the start", got, tt.wantTimer)
			}
			if e := explanation(d, "a"); !tt.want && (e.Reason != "Taint" || !strings.Contains(e.Message, "k=v:")) {
				t.Errorf("explained as %q %q, want the taint", e.Reason, e.Message)
			}
		})
	}
}

func TestTolerationForLongerThanADurationCanSay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		seconds int64
		want    bool
	}{
		"300 years":           {9_467_280_000, true},
		"the largest number":  {math.MaxInt64, true},
		"none":                {0, false},
		"the smallest number": {math.MinInt64, false},
	} {
		w := newWorld(t)
		w.cluster("a", added(start))
		p := place(t, clusterv1beta1.PlacementSpec{Tolerations: []clusterv1beta1.Toleration{{Key: "k", Value: "v", Operator: "Equal", TolerationSeconds: &tt.seconds}}})
		if d := w.decide(p, nil); len(d.Clusters) == 1 != tt.want || len(d.Timers) != 0 {
			t.Errorf("%s: selected %v with timers %v, want tolerated %t", name, d.Clusters, d.Timers, tt.want)
		}
	}
}

func added(at time.Time) func(*schemas.Cluster) {
	return func(c *schemas.Cluster) {
		c.Taints = append(c.Taints, schemas.Taint{Key: "k", Value: "v", Effect: "NoSelect", TimeAdded: at})
	}
}

func TestMisconfiguredTolerations(t *testing.T) {
	t.Parallel()
	for name, toleration := range map[string]clusterv1beta1.Toleration{
		"no key without Exists": {Operator: "Equal", Value: "v"},
		"Exists with a value":   {Key: "k", Operator: "Exists", Value: "v"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := place(t, clusterv1beta1.PlacementSpec{Tolerations: []clusterv1beta1.Toleration{toleration}})
			if d := w.decide(p, nil); d.Conditions[1].Status != "False" {
				t.Errorf("misconfigured without a cluster to judge: %s", d.Conditions[1].Message)
			}
			w.cluster("a")
			d := w.decide(p, nil)
			if len(d.Clusters) != 0 || d.Conditions[1].Status != "True" || d.Conditions[0].Reason != ReasonNoneMatched {
				t.Errorf("got %v and %v, want none selected and misconfigured", d.Clusters, d.Conditions)
			}
		})
	}
}
