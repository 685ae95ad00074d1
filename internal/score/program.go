package score

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/spokewire/spokewire/internal/window"
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
	asks    []window.Ask
}

type item struct {
	name    string
	program cel.Program
	broken  *problem // set instead of program
	// by, if set, is the label of which each value is an item, limit of them
	// at most; readings are where the values come from.
	by       string
	limit    int
	readings []reading
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
		it, err := c.compile(&e)
		if err != nil {
			err = &schemas.FieldError{Field: e.field, Reason: err.Error()}
			errs = append(errs, err)
			p.items = append(p.items, item{name: e.name, broken: failed(err.Error())})
			continue
		}
		p.add(it)
	}
	return p, errors.Join(errs...)
}

// add takes an item, and notes what it reads.
func (p *Program) add(it item) {
	p.items = append(p.items, it)
	for _, r := range it.readings {
		if r.metric == "" {
			p.dynamic = true
			continue
		}
		p.metrics[r.metric] = struct{}{}
		if r.length > 0 {
			p.asks = append(p.asks, window.Ask{Metric: r.metric, Labels: present(r.labels), Length: r.length})
		}
	}
}

// present are the labels that a series must have.
func present(labels map[string]string) map[string]string {
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(_, value string) bool { return value == "" })
	return out
}

// Broken is the program of a scorer that could not be read at all: one item
// of its name, without a score, that says why.
func Broken(scorer string, cause error) *Program {
	return &Program{
		Terms: Terms{validFor: DefaultValidFor}, scorer: scorer,
		items: []item{{name: scorer, broken: failed(cause.Error())}},
	}
}

type expression struct {
	name, field, cel string
	by               string
	limit            int
}

func expressions(scorer *schemas.Scorer) []expression {
	if spec := &scorer.Spec; spec.CEL != "" {
		return []expression{{scorer.Metadata.Name, "spec.cel", spec.CEL, spec.By, spec.Limit}}
	}
	var out []expression
	for i, item := range scorer.Spec.Items {
		out = append(out, expression{item.Name, fmt.Sprintf("spec.items[%d].cel", i), item.CEL, item.By, item.Limit})
	}
	return out
}

func (c *Compiler) compile(e *expression) (item, error) {
	it := item{name: e.name, by: e.by, limit: cmp.Or(e.limit, schemas.DefaultByLimit)}
	if len(e.cel) > MaxExpression {
		return it, fmt.Errorf("is %d bytes long, at most %d are taken", len(e.cel), MaxExpression)
	}
	checked, issues := c.env.Compile(e.cel)
	if issues.Err() != nil {
		return it, explain(issues)
	}
	if err := checkResult(checked.OutputType()); err != nil {
		return it, err
	}
	root := ast.NavigateAST(checked.NativeRep())
	if err := errors.Join(refuseGrowth(root), refuseSteps(root)); err != nil {
		return it, err
	}
	var err error
	if it.readings, err = c.readings(root); err != nil {
		return it, err
	}
	if err := it.checkBy(); err != nil {
		return it, err
	}
	it.program, err = c.env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostTracking(prices{}), cel.CostLimit(costLimit))
	if err != nil {
		return it, fmt.Errorf("does not compile: %s", firstLine(err.Error()))
	}
	return it, nil
}

// Scorer returns the scorer's name.
func (p *Program) Scorer() string { return p.scorer }

// Metrics returns the metric names that the program can read, sorted. Where
// dynamic is true it can read any.
func (p *Program) Metrics() (names []string, dynamic bool) {
	return slices.Sorted(maps.Keys(p.metrics)), p.dynamic
}

// Asks returns what the program looks back at, nothing where it does not.
func (p *Program) Asks() []window.Ask { return p.asks }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
