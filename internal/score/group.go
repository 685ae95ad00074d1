package score

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"

	"github.com/spokewire/spokewire/internal/series"
)

// groupers returns the functions that add samples up by a label.
func groupers() []function {
	takes := [][]*cel.Type{
		{cel.StringType, cel.StringType},
		{cel.StringType, cel.MapType(cel.StringType, cel.StringType), cel.StringType},
	}
	doubles := cel.ListType(cel.DoubleType)
	return []function{
		{"sum_by", takes, doubles, grouped(sum), true, false},
		{"avg_by", takes, doubles, grouped(avg), true, false},
		{"min_by", takes, doubles, grouped(slices.Min[[]float64]), true, false},
		{"max_by", takes, doubles, grouped(slices.Max[[]float64]), true, false},
		{"count_by", takes, cel.ListType(cel.IntType), countBy, true, false},
	}
}

// grouped returns one number for each value of the label, in their order.
func grouped(of func([]float64) float64) func(*reader, arguments) (any, *problem) {
	return func(r *reader, args arguments) (any, *problem) {
		groups := r.groups(args)
		if len(groups) == 0 {
			return nil, r.missing(args.text(0), r.labels(args))
		}
		out := make([]float64, len(groups))
		for i, values := range groups {
			out[i] = of(values)
		}
		return out, nil
	}
}

func countBy(r *reader, args arguments) (any, *problem) {
	out := []int64{}
	for _, values := range r.groups(args) {
		out = append(out, int64(len(values)))
	}
	return out, nil
}

// groups are the values of the fresh samples that match, by the label that is
// the last argument. Those without it are a group too.
func (r *reader) groups(args arguments) [][]float64 {
	label := args.text(len(args) - 1)
	groups := map[string][]float64{}
	r.fresh(args.text(0), r.labels(args), func(src *Source, s series.Sample) {
		r.note(src, s)
		value, _ := s.Series.Label(label)
		groups[value] = append(groups[value], s.Value)
	})
	out := make([][]float64, 0, len(groups))
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, groups[value])
	}
	return out
}
