package mapping

import (
	"context"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

const (
	// costLimit bounds one evaluation, in CEL's units of cost: a filter of
	// some ten thousand items.
	costLimit = 100_000
	// checkEvery is how many steps of a loop go by between looks at whether
	// the time is up.
	checkEvery = 100
)

// celLanguage compiles CEL.
type celLanguage struct{ item, items *cel.Env }

func newCEL() (compiler, error) {
	items, err := cel.NewEnv(
		cel.Variable("body", cel.DynType),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Math(), ext.Strings(),
	)
	if err != nil {
		return nil, fmt.Errorf("CEL environment: %w", err)
	}
	item, err := items.Extend(cel.Variable("item", cel.DynType), cel.Variable("key", cel.DynType))
	if err != nil {
		return nil, fmt.Errorf("CEL environment: %w", err)
	}
	return celLanguage{item: item, items: items}, nil
}

func (l celLanguage) compile(text string, items bool) (expression, error) {
	env := l.item
	if items {
		env = l.items
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	program, err := env.Program(checked, cel.CostLimit(costLimit), cel.InterruptCheckFrequency(checkEvery))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, s scope) (any, error) {
		v, _, err := program.ContextEval(ctx, map[string]any{"body": s.body, "item": s.item, "key": s.key})
		return v, err
	}, nil
}
