package score

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// DefaultValidFor is how long a sample, and a score computed from it, holds
// where the scorer does not say.
const DefaultValidFor = time.Minute

// Compiler compiles scorers. It may be used by several goroutines.
type Compiler struct {
	env     *cel.Env
	readers map[string]function
}

// NewCompiler makes a Compiler. That takes a few milliseconds: make one.
func NewCompiler() (*Compiler, error) {
	env, err := newEnv()
	if err != nil {
		return nil, err
	}
	c := &Compiler{env: env, readers: map[string]function{}}
	for _, f := range readers() {
		c.readers[f.name] = f
	}
	return c, nil
}

// Program is a compiled scorer.
type Program struct {
	Terms
	scorer  string
	items   []item
	metrics map[string]struct{}
	dynamic bool
}

type item struct {
	name    string
	program cel.Program
	broken  *problem // set instead of program
}

// Compile compiles a valid scorer. The error joins one *schemas.FieldError
// for each expression that does not compile. The program is good even then:
// it gives each such item no score, the reason Failed and the error as its
// message, so that the neighbours are scored and the fault is seen.
func (c *Compiler) Compile(scorer *schemas.Scorer) (*Program, error) {
	p := &Program{
		Terms:   Terms{validFor: DefaultValidFor, hubOff: scorer.Spec.Hub != nil && !*scorer.Spec.Hub},
		scorer:  scorer.Metadata.Name,
		metrics: map[string]struct{}{},
	}
	if scorer.Spec.ValidFor != nil {
		p.validFor = time.Duration(*scorer.Spec.ValidFor)
	}
	var errs []error
	for _, e := range expressions(scorer) {
		program, err := c.compile(p, e.cel)
		if err != nil {
			err = &schemas.FieldError{Field: e.field, Reason: err.Error()}
			errs = append(errs, err)
			p.items = append(p.items, item{name: e.name, broken: failed(err.Error())})
			continue
		}
		p.items = append(p.items, item{name: e.name, program: program})
	}
	return p, errors.Join(errs...)
}

// Broken is the program of a scorer that could not be read at all: one item
// of its name, without a score, that says why.
func Broken(scorer string, cause error) *Program {
	return &Program{
		Terms: Terms{validFor: DefaultValidFor}, scorer: scorer,
		items: []item{{name: scorer, broken: failed(cause.Error())}},
	}
}

type expression struct{ name, field, cel string }

func expressions(scorer *schemas.Scorer) []expression {
	if scorer.Spec.CEL != "" {
		return []expression{{scorer.Metadata.Name, "spec.cel", scorer.Spec.CEL}}
	}
	var out []expression
	for i, item := range scorer.Spec.Items {
		out = append(out, expression{item.Name, fmt.Sprintf("spec.items[%d].cel", i), item.CEL})
	}
	return out
}

func (c *Compiler) compile(p *Program, text string) (cel.Program, error) {
	if len(text) > MaxExpression {
		return nil, fmt.Errorf("is %d bytes long, at most %d are taken", len(text), MaxExpression)
	}
	checked, issues := c.env.Compile(text)
	if issues.Err() != nil {
		return nil, explain(issues)
	}
	if err := checkResult(checked.OutputType()); err != nil {
		return nil, err
	}
	root := ast.NavigateAST(checked.NativeRep())
	if err := refuseGrowth(root); err != nil {
		return nil, err
	}
	names, dynamic := c.names(root)
	program, err := c.env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(costLimit))
	if err != nil {
		return nil, fmt.Errorf("does not compile: %s", firstLine(err.Error()))
	}
	maps.Copy(p.metrics, names)
	p.dynamic = p.dynamic || dynamic
	return program, nil
}

// names returns the metric names that the expression can read. dynamic is
// true where it computes one, so that it can read any.
func (c *Compiler) names(root ast.NavigableExpr) (names map[string]struct{}, dynamic bool) {
	names = map[string]struct{}{}
	for _, call := range ast.MatchDescendants(root, ast.KindMatcher(ast.CallKind)) {
		f, ok := c.readers[call.AsCall().FunctionName()]
		if !ok || !f.metric || call.AsCall().IsMemberFunction() {
			continue
		}
		arg := call.AsCall().Args()[1]
		if arg.Kind() != ast.LiteralKind {
			dynamic = true
			continue
		}
		if name, ok := arg.AsLiteral().Value().(string); ok {
			names[name] = struct{}{}
		}
	}
	return names, dynamic
}

// Scorer returns the scorer's name.
func (p *Program) Scorer() string { return p.scorer }

// Metrics returns the metric names that the program can read, sorted. Where
// dynamic is true it can read any.
func (p *Program) Metrics() (names []string, dynamic bool) {
	return slices.Sorted(maps.Keys(p.metrics)), p.dynamic
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
