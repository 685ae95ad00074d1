package kube

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

func at(name, version string) *clusterv1beta1.Placement {
	return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version}}
}

func TestOverlay(t *testing.T) {
	t.Parallel()
	type placements = overlay[*clusterv1beta1.Placement]
	tests := map[string]struct {
		do     func(o *placements, later func(time.Duration))
		cached []*clusterv1beta1.Placement
		want   []string
	}{
		"nothing known": {cached: []*clusterv1beta1.Placement{at("a", "5")}, want: []string{"a5"}},
		"an own write is newer": {
			do:     func(o *placements, _ func(time.Duration)) { o.put(at("a", "9")) },
			cached: []*clusterv1beta1.Placement{at("a", "5")}, want: []string{"a9"},
		},
		"versions are numbers": {
			do:     func(o *placements, _ func(time.Duration)) { o.put(at("a", "10")) },
			cached: []*clusterv1beta1.Placement{at("a", "9")}, want: []string{"a10"},
		},
		"the cache is newer": {
			do:     func(o *placements, _ func(time.Duration)) { o.put(at("a", "5")) },
			cached: []*clusterv1beta1.Placement{at("a", "9")}, want: []string{"a9"},
		},
		"an own create": {
			do:     func(o *placements, _ func(time.Duration)) { o.put(at("b", "9")) },
			cached: []*clusterv1beta1.Placement{at("a", "5")}, want: []string{"a5", "b9"},
		},
		"an own delete": {
			do:     func(o *placements, _ func(time.Duration)) { o.gone(at("a", "5"), "5") },
			cached: []*clusterv1beta1.Placement{at("a", "5")},
		},
		"an own delete, and a late echo of what was": {
			do: func(o *placements, _ func(time.Duration)) {
				o.gone(at("a", "5"), "5")
				o.observe(at("a", "5"), false)
			},
			cached: []*clusterv1beta1.Placement{at("a", "5")},
		},
		"a deletion that was seen": {
			do:     func(o *placements, _ func(time.Duration)) { o.observe(at("a", "7"), true) },
			cached: []*clusterv1beta1.Placement{at("a", "5")},
		},
		"a write whose answer comes after the deletion was seen": {
			do: func(o *placements, _ func(time.Duration)) {
				o.observe(at("a", "7"), true)
				o.put(at("a", "6"))
			},
		},
		"created anew after that": {
			do: func(o *placements, _ func(time.Duration)) {
				o.observe(at("a", "7"), true)
				o.put(at("a", "8"))
			},
			want: []string{"a8"},
		},
		"long ago": {
			do: func(o *placements, later func(time.Duration)) {
				o.put(at("a", "9"))
				later(2 * overlayFor)
			},
			cached: []*clusterv1beta1.Placement{at("a", "5")}, want: []string{"a5"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			o := newOverlay(func(*clusterv1beta1.Placement) string { return "g" }, func() time.Time { return now })
			if tt.do != nil {
				tt.do(o, func(d time.Duration) { now = now.Add(d) })
			}
			var got []string
			for _, p := range o.latest("g", tt.cached) {
				got = append(got, p.Name+p.ResourceVersion)
			}
			if slices.Sort(got); !slices.Equal(got, tt.want) {
				t.Errorf("it is %v, want %v", got, tt.want)
			}
			now = now.Add(2 * overlayFor)
			if o.sweep(); len(o.groups) != 0 {
				t.Errorf("left are %v", o.groups)
			}
		})
	}
}
