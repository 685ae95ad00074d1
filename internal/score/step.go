package score

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// stepwise declares step(x, bound), which is 100 from the bound on and 0
// below it, and step(x, bounds, values): the first value below the first
// bound, the second one from there on, and so forth.
func stepwise() cel.EnvOption {
	numbers := []*cel.Type{cel.DoubleType, cel.IntType, cel.UintType}
	list := cel.ListType(cel.DynType)
	options := []cel.FunctionOpt{cel.SingletonFunctionBinding(callStep)}
	for i, x := range numbers {
		for j, bound := range numbers {
			options = append(options, cel.Overload(fmt.Sprintf("step_%d_%d", i, j), []*cel.Type{x, bound}, cel.DoubleType))
		}
		options = append(options, cel.Overload(fmt.Sprintf("step_%d_lists", i), []*cel.Type{x, list, list}, cel.DoubleType))
	}
	return cel.Function("step", options...)
}

func callStep(args ...ref.Val) ref.Val {
	x, ok := number(args[0])
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	bounds, values := []float64{0}, []float64{0, 100}
	if len(args) == 2 {
		if bounds[0], ok = number(args[1]); !ok {
			return types.MaybeNoSuchOverloadErr(args[1])
		}
	} else {
		var p *problem
		if bounds, p = numbersOf(args[1]); p == nil {
			values, p = numbersOf(args[2])
		}
		if p == nil {
			p = checkSteps(bounds, values)
		}
		if p != nil {
			return types.WrapErr(p)
		}
	}
	at := 0
	for at < len(bounds) && x >= bounds[at] {
		at++
	}
	return types.Double(values[at])
}

func numbersOf(v ref.Val) ([]float64, *problem) {
	list, ok := v.(traits.Lister)
	if !ok {
		return nil, failed("step(x, bounds, values) wants lists of numbers")
	}
	var out []float64
	for it := list.Iterator(); it.HasNext() == types.True; {
		n, ok := number(it.Next())
		if !ok {
			return nil, failed("step(x, bounds, values) wants lists of numbers")
		}
		out = append(out, n)
	}
	return out, nil
}

func checkSteps(bounds, values []float64) *problem {
	switch {
	case len(bounds) == 0:
		return failed("step(x, bounds, values) wants a bound at least")
	case len(values) != len(bounds)+1:
		return failed(fmt.Sprintf("step(x, bounds, values) wants one value more than bounds: there are %d bounds and %d values", len(bounds), len(values)))
	case !slices.IsSorted(bounds):
		return failed("step(x, bounds, values) wants bounds that rise")
	}
	return nil
}

// refuseSteps refuses lists that are written out and make no steps.
func refuseSteps(root ast.NavigableExpr) error {
	for _, call := range ast.MatchDescendants(root, ast.FunctionMatcher("step")) {
		args := call.AsCall().Args()
		if len(args) != 3 {
			continue
		}
		bounds, known := literalList(args[1])
		values, both := literalList(args[2])
		if !known || !both {
			continue
		}
		b, p := numbersOf(bounds)
		if p == nil {
			var v []float64
			if v, p = numbersOf(values); p == nil {
				p = checkSteps(b, v)
			}
		}
		if p != nil {
			return p
		}
	}
	return nil
}

// literalList is the value of a list that is written out.
func literalList(e ast.Expr) (ref.Val, bool) {
	if e.Kind() != ast.ListKind {
		return nil, false
	}
	var elements []ref.Val
	for _, element := range e.AsList().Elements() {
		v, known := literalNumber(element)
		if !known {
			return nil, false
		}
		elements = append(elements, v)
	}
	return types.NewRefValList(types.DefaultTypeAdapter, elements), true
}

// literalNumber is a value that is written out, with its sign.
func literalNumber(e ast.Expr) (ref.Val, bool) {
	if e.Kind() == ast.LiteralKind {
		return e.AsLiteral(), true
	}
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "-_" {
		return nil, false
	}
	v, known := literalNumber(e.AsCall().Args()[0])
	if n, ok := v.(traits.Negater); known && ok {
		return n.Negate(), true
	}
	return nil, false
}
