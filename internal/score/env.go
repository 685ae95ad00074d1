package score

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/ext"
)

// Limits of an expression. They bound what one scorer costs every cluster.
const (
	// MaxExpression is the greatest length of an expression, in bytes.
	MaxExpression = 4096
	// costLimit bounds one evaluation, in CEL's units of cost (about one for
	// each call and each step of a comprehension). That is a few ms.
	costLimit  = 100_000
	maxNodes   = 2000
	maxDepth   = 64
	maxRegex   = 1000
	maxRepairs = 1 // parser errors that are reported beside the first
)

// self is the hidden variable that holds the reader. '@' keeps expressions
// from naming it.
const self = "@cluster"

// function is one that reads from the cluster. In an expression it has no
// cluster argument: a macro puts it there.
type function struct {
	name string
	// takes are the argument lists.
	takes  [][]*cel.Type
	result *cel.Type
	bind   func(r *reader, args arguments) (any, *problem)
	// metric is true where the first argument is a metric name.
	metric bool
	// past is true where the last argument is how far to look back. That, the
	// metric name and the labels are written out then: what is to be kept is
	// known when the expression is compiled.
	past bool
}

func newEnv() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.Variable(self, readerType),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(MaxExpression),
		cel.ParserRecursionLimit(maxDepth),
		cel.ParserErrorRecoveryLimit(maxRepairs),
		cel.ExpressionNodeLimit(maxNodes),
		cel.RegexProgramSizeLimit(maxRegex),
		ext.Math(),
		ext.Strings(),
	}
	for _, f := range readers() {
		options = append(options, f.declare()...)
	}
	options = append(options, numeric("linear", linear), numeric("clamp", clamp), stepwise())
	env, err := cel.NewEnv(options...)
	if err != nil {
		return nil, fmt.Errorf("CEL environment: %w", err)
	}
	return env, nil
}

func (f *function) declare() []cel.EnvOption {
	declared := []cel.FunctionOpt{cel.SingletonFunctionBinding(f.call)}
	var options []cel.EnvOption
	arities := map[int]bool{}
	for i, take := range f.takes {
		args := append([]*cel.Type{readerType}, take...)
		declared = append(declared, cel.Overload(fmt.Sprintf("%s_%d", f.name, i), args, f.result))
		if !arities[len(take)] {
			arities[len(take)] = true
			options = append(options, cel.Macros(cel.GlobalMacro(f.name, len(take), insertSelf(f.name))))
		}
	}
	return append(options, cel.Function(f.name, declared...))
}

// insertSelf turns f(a, b) into f(@cluster, a, b).
func insertSelf(name string) cel.MacroFactory {
	return func(eh cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
		return eh.NewCall(name, append([]ast.Expr{eh.NewIdent(self)}, args...)...), nil
	}
}

// numeric declares a function of three numbers of any of CEL's types, so
// that linear(metric("x"), 0, 8) needs no decimal points.
func numeric(name string, apply func(x, a, b float64) (float64, *problem)) cel.EnvOption {
	numbers := []*cel.Type{cel.DoubleType, cel.IntType, cel.UintType}
	options := []cel.FunctionOpt{cel.SingletonFunctionBinding(callNumeric(apply))}
	for i := range 27 {
		args := []*cel.Type{numbers[i/9], numbers[i/3%3], numbers[i%3]}
		options = append(options, cel.Overload(fmt.Sprintf("%s_%d", name, i), args, cel.DoubleType))
	}
	return cel.Function(name, options...)
}
