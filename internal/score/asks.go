package score

import (
	"fmt"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/spokewire/spokewire/internal/window"
)

// reading is what one call reads of a metric.
type reading struct {
	metric string // "" where it is computed
	labels map[string]string
	// computed is true where labels may be asked for that are not known.
	computed bool
	// length is how far it looks back, 0 for not at all.
	length time.Duration
}

// readings returns what an expression reads of metrics.
func (c *Compiler) readings(root ast.NavigableExpr) ([]reading, error) {
	var out []reading
	for _, e := range ast.MatchDescendants(root, ast.KindMatcher(ast.CallKind)) {
		call := e.AsCall()
		f, known := c.readers[call.FunctionName()]
		if !known || !f.metric || call.IsMemberFunction() {
			continue
		}
		args := call.Args()[1:]
		r := f.reading(args)
		if f.past {
			if err := r.lookBack(f.name, args); err != nil {
				return nil, err
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// reading is what a call of f reads. The longest argument list is the one
// with labels.
func (f *function) reading(args []ast.Expr) reading {
	var r reading
	r.metric, _ = literalText(args[0])
	most := 0
	for _, take := range f.takes {
		most = max(most, len(take))
	}
	if len(args) == most {
		r.labels, r.computed = literalLabels(args[1])
	}
	return r
}

// lookBack checks what is written out of a call that looks back.
func (r *reading) lookBack(function string, args []ast.Expr) error {
	length, known := literalDuration(args[len(args)-1])
	switch {
	case r.metric == "":
		return fmt.Errorf("%s() wants the metric's name in quotes: what it looks back at is kept from then on", function)
	case r.computed:
		return fmt.Errorf("%s() wants labels whose names and values are in quotes: what it looks back at is kept from then on", function)
	case !known:
		return fmt.Errorf(`%s() wants its window written out, for instance duration("5m")`, function)
	case length <= 0 || length > window.MaxLength:
		return fmt.Errorf("%s() wants a window of more than 0 and up to %s, it is %s", function, window.MaxLength, length)
	}
	r.length = length
	return checkMiddle(function, args)
}

// checkMiddle checks the argument before the window where it is written out.
func checkMiddle(function string, args []ast.Expr) error {
	middle := args[len(args)-2]
	switch function {
	case "ewma":
		if halfLife, known := literalDuration(middle); known && halfLife <= 0 {
			return fmt.Errorf("ewma() wants a half-life of more than 0, it is %s", halfLife)
		}
	case "percentile_over":
		if v, known := literalNumber(middle); known {
			if percent, ok := number(v); ok && !isPercent(percent) {
				return fmt.Errorf("percentile_over() wants a percentage from 0 to 100, it is %s", formatNumber(percent))
			}
		}
	}
	return nil
}

func literalText(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().(types.String)
	return string(text), ok
}

// literalLabels reads labels that are written out. computed is true where
// they are not.
func literalLabels(e ast.Expr) (labels map[string]string, computed bool) {
	if e.Kind() != ast.MapKind {
		return nil, true
	}
	labels = map[string]string{}
	for _, entry := range e.AsMap().Entries() {
		name, known := literalText(entry.AsMapEntry().Key())
		value, both := literalText(entry.AsMapEntry().Value())
		if !known || !both {
			return nil, true
		}
		labels[name] = value
	}
	return labels, false
}

func literalDuration(e ast.Expr) (time.Duration, bool) {
	if e.Kind() == ast.LiteralKind {
		return durationOf(e.AsLiteral())
	}
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "duration" || len(e.AsCall().Args()) != 1 {
		return 0, false
	}
	text, known := literalText(e.AsCall().Args()[0])
	if !known {
		return 0, false
	}
	return durationOf(types.String(text).ConvertToType(types.DurationType))
}

func durationOf(v ref.Val) (time.Duration, bool) {
	d, ok := v.(types.Duration)
	return d.Duration, ok
}
