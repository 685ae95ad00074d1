package score

import (
	"fmt"
	"math"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// readers returns what an expression can read with. docs/scorer.md
// explains each.
func readers() []function {
	text := []*cel.Type{cel.StringType}
	texts := []*cel.Type{cel.StringType, cel.StringType}
	labelled := []*cel.Type{cel.StringType, cel.MapType(cel.StringType, cel.StringType)}
	metric := [][]*cel.Type{text, labelled}
	now := []function{
		{"metric", metric, cel.DoubleType, readMetric, true, false},
		{"sum", metric, cel.DoubleType, aggregate(sum), true, false},
		{"avg", metric, cel.DoubleType, aggregate(avg), true, false},
		{"min", metric, cel.DoubleType, aggregate(slices.Min[[]float64]), true, false},
		{"max", metric, cel.DoubleType, aggregate(slices.Max[[]float64]), true, false},
		{"count", metric, cel.IntType, readCount, true, false},
		{"values", metric, cel.ListType(cel.DoubleType), readValues, true, false},
		{"fresh", metric, cel.BoolType, readFresh, true, false},
		{"label", [][]*cel.Type{text, texts}, cel.StringType, readLabel, false, false},
		{"claim", [][]*cel.Type{text, texts}, cel.StringType, readClaim, false, false},
		{"has_label", [][]*cel.Type{text}, cel.BoolType, hasLabel, false, false},
		{"has_claim", [][]*cel.Type{text}, cel.BoolType, hasClaim, false, false},
	}
	return slices.Concat(now, groupers(), pastReaders())
}

// arguments are those of one call, without the reader.
type arguments []ref.Val

func (a arguments) text(i int) string { return string(a[i].(types.String)) }

// labels returns the second argument, nil if that is no labels.
func (a arguments) labels() map[string]string {
	if len(a) < 2 {
		return nil
	}
	m, ok := a[1].(traits.Mapper)
	if !ok {
		return nil
	}
	labels := make(map[string]string, int(m.Size().(types.Int)))
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		labels[string(key.(types.String))] = string(m.Get(key).(types.String))
	}
	return labels
}

func (f *function) call(args ...ref.Val) ref.Val {
	r, ok := args[0].(*reader)
	if !ok {
		return types.NewErr("%s reads no cluster", f.name)
	}
	value, p := f.bind(r, args[1:])
	if p != nil {
		return types.WrapErr(p)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

func readMetric(r *reader, args arguments) (any, *problem) {
	v, p := r.one(args.text(0), r.labels(args))
	return v, p
}

func aggregate(of func([]float64) float64) func(*reader, arguments) (any, *problem) {
	return func(r *reader, args arguments) (any, *problem) {
		values := r.all(args.text(0), r.labels(args))
		if len(values) == 0 {
			return nil, r.missing(args.text(0), r.labels(args))
		}
		return of(values), nil
	}
}

func readCount(r *reader, args arguments) (any, *problem) {
	return int64(len(r.all(args.text(0), r.labels(args)))), nil
}

func readValues(r *reader, args arguments) (any, *problem) {
	values := r.all(args.text(0), r.labels(args))
	if values == nil {
		values = []float64{}
	}
	return values, nil
}

func readFresh(r *reader, args arguments) (any, *problem) {
	return len(r.all(args.text(0), r.labels(args))) > 0, nil
}

func readLabel(r *reader, args arguments) (any, *problem) {
	return r.lookUp("label", NoLabel, r.cluster.Labels, args)
}

func readClaim(r *reader, args arguments) (any, *problem) {
	return r.lookUp("claim", NoClaim, r.cluster.Claims, args)
}

func hasLabel(r *reader, args arguments) (any, *problem) {
	_, ok := r.cluster.Labels[args.text(0)]
	return ok, nil
}

func hasClaim(r *reader, args arguments) (any, *problem) {
	_, ok := r.cluster.Claims[args.text(0)]
	return ok, nil
}

func (r *reader) lookUp(kind, reason string, in map[string]string, args arguments) (any, *problem) {
	key := args.text(0)
	value, ok := in[key]
	switch {
	case ok:
		r.noteText(kind, key, value)
		return value, nil
	case len(args) > 1:
		return args.text(1), nil
	}
	return nil, &problem{reason, shorten(fmt.Sprintf("the cluster has no %s %q; give a default with %s(%q, \"…\")", kind, key, kind, key))}
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

func avg(values []float64) float64 { return sum(values) / float64(len(values)) }

// linear maps from..to, in either direction, to 0..100 and clamps.
func linear(x, from, to float64) (float64, *problem) {
	if from == to {
		return 0, failed(fmt.Sprintf("linear(x, from, to) wants two different bounds, both are %s", formatNumber(from)))
	}
	return clamp((x-from)/(to-from)*100, 0, 100)
}

func clamp(x, lo, hi float64) (float64, *problem) {
	if lo > hi {
		return 0, failed(fmt.Sprintf("clamp(x, lo, hi) wants lo <= hi, they are %s and %s", formatNumber(lo), formatNumber(hi)))
	}
	return math.Max(lo, math.Min(hi, x)), nil
}

func callNumeric(apply func(x, a, b float64) (float64, *problem)) functions.FunctionOp {
	return func(args ...ref.Val) ref.Val {
		var numbers [3]float64
		for i, arg := range args {
			v, ok := number(arg)
			if !ok {
				return types.MaybeNoSuchOverloadErr(arg)
			}
			numbers[i] = v
		}
		v, p := apply(numbers[0], numbers[1], numbers[2])
		if p != nil {
			return types.WrapErr(p)
		}
		return types.Double(v)
	}
}

// number returns the value of a CEL number.
func number(v ref.Val) (float64, bool) {
	switch v := v.(type) {
	case types.Double:
		return float64(v), true
	case types.Int:
		return float64(v), true
	case types.Uint:
		return float64(v), true
	}
	return 0, false
}
