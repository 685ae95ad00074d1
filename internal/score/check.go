package score

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// explain says what is wrong with an expression, and where.
func explain(issues *cel.Issues) error {
	var lines []string
	for _, e := range issues.Errors() {
		lines = append(lines, locate(e)+cleanMessage(e.Message))
	}
	return errors.New("does not compile: " + strings.Join(lines, "; ") + hint(lines))
}

func locate(e *common.Error) string {
	if e.Location == nil || e.Location.Line() < 1 {
		return ""
	}
	return fmt.Sprintf("line %d, column %d: ", e.Location.Line(), e.Location.Column()+1)
}

// cleanMessage takes out the hidden argument, which the user did not write.
func cleanMessage(message string) string {
	message = strings.ReplaceAll(firstLine(message), "(cluster, ", "(")
	return strings.ReplaceAll(message, " (in container '')", "")
}

func hint(lines []string) string {
	all := strings.Join(lines, " ")
	switch {
	case strings.Contains(all, "double, int)"), strings.Contains(all, "int, double)"), strings.Contains(all, "(bool, double, int"), strings.Contains(all, "(bool, int, double"):
		return "; write numbers beside a metric with a decimal point: 8.0, not 8"
	case strings.Contains(all, "'min' applied to"), strings.Contains(all, "'max' applied to"):
		return "; min and max take a metric name: of numbers, write math.least(a, b) or math.greatest(a, b)"
	case strings.Contains(all, "_over' applied to"), strings.Contains(all, "'rate' applied to"), strings.Contains(all, "'ewma' applied to"):
		return `; they take a metric's name and a window: rate("x", duration("5m")), percentile_over("x", 95, duration("5m")), ewma("x", duration("1m"), duration("10m"))`
	}
	return ""
}

// checkResult refuses an expression that cannot give a number.
func checkResult(t *cel.Type) error {
	switch t.Kind() {
	case types.DoubleKind, types.IntKind, types.UintKind, types.DynKind:
		return nil
	case types.BoolKind:
		return errors.New("is true or false, want a number: write EXPRESSION ? 100 : 0")
	case types.StringKind:
		return errors.New("is a text, want a number: write double(EXPRESSION), or compare it: EXPRESSION == \"…\" ? 100 : 0")
	}
	return fmt.Errorf("is a %s, want a number", t)
}

// refuseGrowth refuses functions whose result can be much larger than what
// their cost covers. No score needs them.
func refuseGrowth(root ast.NavigableExpr) error {
	for _, call := range ast.MatchDescendants(root, ast.KindMatcher(ast.CallKind)) {
		switch name := call.AsCall().FunctionName(); name {
		case "replace", "format", "join":
			return fmt.Errorf("calls %s(), which scorers do not have", name)
		}
	}
	return nil
}
