package expression

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// Score is one item of an AddOnPlacementScore.
type Score struct {
	Name  string
	Value int32
}

// Scores answers managedCluster.scores(resource): the items, and whether
// there is such an object at all.
type Scores func(resource string) (items []Score, found bool)

// Compiler compiles selectors. It may be used by several goroutines.
type Compiler struct{ env *cel.Env }

// NewCompiler makes a Compiler.
func NewCompiler() (*Compiler, error) {
	env, err := newEnv()
	if err != nil {
		return nil, err
	}
	return &Compiler{env: env}, nil
}

// Selector is the expressions of one celSelector: a cluster matches if all of
// them are true. It may be used by several goroutines.
type Selector struct {
	programs []cel.Program
	// Fields are where the expressions stand.
	Fields []string
	// Resources are the names that scores() is called with; AnyResource says
	// that one is not known before an evaluation.
	Resources   []string
	AnyResource bool
}

// Compile compiles the expressions that stand in field. The error names the
// expression.
func (c *Compiler) Compile(field string, expressions []string) (*Selector, error) {
	s := &Selector{}
	for i, text := range expressions {
		name := fmt.Sprintf("%s[%d]", field, i)
		program, err := c.compile(s, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.programs, s.Fields = append(s.programs, program), append(s.Fields, name)
	}
	return s, nil
}

func (c *Compiler) compile(s *Selector, text string) (cel.Program, error) {
	ast, issues := c.env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("does not compile: %s", firstLine(issues))
	}
	if err := s.survey(ast); err != nil {
		return nil, err
	}
	program, err := c.env.Program(ast, cel.CostLimit(MaxCost), cel.CostTracking(prices{}))
	if err != nil {
		return nil, fmt.Errorf("does not compile: %w", err)
	}
	return program, nil
}

// firstLine leaves out the picture of where the error is, and what follows
// from it.
func firstLine(issues *cel.Issues) string {
	errs := issues.Errors()
	if len(errs) == 0 {
		return issues.String()
	}
	e := errs[0]
	return short(fmt.Sprintf("%d:%d: %s", e.Location.Line(), e.Location.Column()+1, e.Message))
}

// maxReason bounds the text of an error, in bytes.
const maxReason = 256

func short(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if len(line) > maxReason {
		line = strings.ToValidUTF8(line[:maxReason], "") + "..."
	}
	return line
}

// Result is what a selector says of a cluster.
type Result struct {
	Matched bool
	// Failure says, with its field, which expression could not be evaluated,
	// and why; "" where all could. The cluster then does not match.
	Failure string
	// Cost is in CEL's units.
	Cost uint64
	// Exhausted: an evaluation was ended for what it costs.
	Exhausted bool
}

// Evaluate evaluates the expressions over a cluster, up to the first that is
// not true.
func (s *Selector) Evaluate(c *Cluster, scores Scores) Result {
	var r Result
	input := map[string]any{variable: &clusterValue{Mapper: c.value, scores: scores}}
	for i, program := range s.programs {
		value, details, err := program.Eval(input)
		if cost := details.ActualCost(); cost != nil {
			r.Cost += *cost
			r.Exhausted = *cost > MaxCost || r.Cost > MaxSelectorCost
		}
		switch {
		case err != nil:
			r.Failure = s.Fields[i] + ": " + short(err.Error())
			return r
		case r.Exhausted:
			r.Failure = s.Fields[i] + ": the selector's cost exceeds its limit"
			return r
		case value != types.True:
			if value != types.False {
				r.Failure = fmt.Sprintf("%s: is of type %s, want bool", s.Fields[i], value.Type().TypeName())
			}
			return r
		}
	}
	r.Matched = true
	return r
}
