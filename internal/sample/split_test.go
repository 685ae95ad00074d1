package sample

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	of := func(cluster string, value float64) schemas.Sample {
		return schemas.Sample{Name: "price", Value: value, Labels: map[string]string{"cluster": cluster, "zone": "z"}}
	}
	whole := Snapshot{
		Samples: []schemas.Sample{of("b", 2), of("a", 1), of("c", 3), of("c", 4), {Name: "none"}, of("", 5)},
		Left:    []Left{{Reason: NotFinite, Count: 1, Example: "x"}},
	}
	parts, kept := whole.Split("cluster", []string{"a", "b", "d"})
	zone := func(value float64) []schemas.Sample {
		return []schemas.Sample{{Name: "price", Value: value, Labels: map[string]string{"zone": "z"}}}
	}
	if diff := cmp.Diff(map[string][]schemas.Sample{"a": zone(1), "b": zone(2)}, parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	want := Snapshot{Samples: []schemas.Sample{of("b", 2), of("a", 1)}, Left: []Left{
		{Reason: NotFinite, Count: 1, Example: "x"},
		{Reason: NoCluster, Count: 2, Example: "none has no label cluster"},
		{Reason: UnknownCluster, Count: 2, Example: `price{cluster="c",zone="z"} is of a cluster that is not among clusters`},
	}}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}
