package observe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Each cluster that is named has an event of its own; one that is named no
// more has an empty one, once.
func TestFleet(t *testing.T) {
	t.Parallel()
	named := [][]string{{"a", "x"}, {"a", "b"}, {"b"}, {"b"}}
	x := newFixture(&fake{answer: func(n int) (sample.Snapshot, error) {
		s := sample.Snapshot{Samples: []schemas.Sample{}}
		for _, cluster := range named[n-1] {
			s.Samples = append(s.Samples, schemas.Sample{Name: "price", Value: 1, Labels: map[string]string{"cluster": cluster}})
		}
		return s, nil
	}})
	x.source.Fleet = &Fleet{Label: "cluster", Clusters: []string{"a", "b", "c"}}
	for round, want := range []map[string]int{
		{"a": 1, "b": 0, "c": 0}, // nothing is known of what there was before
		{"a": 1, "b": 1},
		{"a": 0, "b": 1},
		{"b": 1},
	} {
		x.fake.stored = nil
		if err := x.source.observe(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, e := range x.fake.stored {
			var m schemas.Metrics
			if err := e.DataAs(&m); err != nil {
				t.Fatal(err)
			}
			cluster, source, _ := strings.Cut(strings.TrimPrefix(e.Source(), "/clusters/"), "/sources/")
			if source != "node" || len(m.Samples) > 0 && m.Samples[0].Labels["cluster"] != "" {
				t.Errorf("event of %s holds %+v", e.Source(), m)
			}
			got[cluster] = len(m.Samples)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("round %d (-want +got):\n%s", round, diff)
		}
		unknown := strings.Contains(x.source.Status(), "UnknownCluster")
		if unknown != (round == 0) {
			t.Errorf("round %d: status is %q", round, x.source.Status())
		}
	}
}
