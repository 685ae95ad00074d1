// Package mapping makes samples of a JSON document by expressions in CEL or
// JSONPath.
//
// It is pure: it knows not where the document comes from.
package mapping

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

// scope is what an expression sees.
type scope struct{ body, item, key any }

// expression yields a Go value as package encoding/json makes them, or one
// of CEL.
type expression func(context.Context, scope) (any, error)

// compiler makes an expression of a text. It returns what is wrong with it.
// The expression of items sees the body alone.
type compiler interface {
	compile(text string, items bool) (expression, error)
}

// Mapping is ready to use. It is for one goroutine.
type Mapping struct{ metrics []metric }

// metric is one kind of samples.
type metric struct {
	config             config.Mapping
	name, items, value expression
	labels             map[string]expression
}

// Compile returns the mapping of a valid configuration. The error is a
// *schemas.FieldError; Field is the path within c.
func Compile(c config.JSON) (*Mapping, error) {
	language, err := newCEL()
	if err != nil {
		return nil, err
	}
	if c.Syntax == config.SyntaxJSONPath {
		language = jsonPath{}
	}
	m := &Mapping{}
	for i := range c.Metrics {
		one, err := compile(language, c.Metrics[i])
		if err != nil {
			err.Field = fmt.Sprintf("metrics[%d].%s", i, err.Field)
			return nil, err
		}
		m.metrics = append(m.metrics, one)
	}
	return m, nil
}

func compile(language compiler, c config.Mapping) (metric, *schemas.FieldError) {
	m := metric{config: c, labels: map[string]expression{}}
	all := c.Expressions()
	for _, field := range slices.Sorted(maps.Keys(all)) {
		e, err := language.compile(all[field], field == "items")
		if err != nil {
			return m, &schemas.FieldError{Field: field, Reason: fmt.Sprintf("is %.100q: %v", all[field], err)}
		}
		switch field {
		case "value":
			m.value = e
		case "nameFrom":
			m.name = e
		case "items":
			m.items = e
		default:
			m.labels[field[len("labels."):]] = e
		}
	}
	return m, nil
}

// Apply adds what the mapping makes of a document to a selection, and ends
// with ctx. An item
// that makes no sample is noted and spoils no other; where the items
// themselves cannot be found, Apply returns a *failure.Error, for what they
// were before would count as gone.
func (m *Mapping) Apply(ctx context.Context, document any, into *sample.Selection) error {
	for i := range m.metrics {
		if err := m.metrics[i].apply(ctx, document, into); err != nil {
			return failure.Newf(failure.BadAnswer, "json.metrics[%d].%w", i, err)
		}
	}
	return nil
}

func (m *metric) apply(ctx context.Context, document any, into *sample.Selection) error {
	scopes := []scope{{body: document, item: document}}
	if m.items != nil {
		found, err := m.items(ctx, scope{body: document, item: document})
		if err == nil {
			scopes, err = split(document, found)
		}
		if err != nil {
			return fmt.Errorf("items: %w", err)
		}
	}
	if len(scopes) == 0 {
		into.Note(sample.NoData, fmt.Sprintf("%s has no items", m.title()))
	}
	for i := range scopes {
		if ctx.Err() != nil {
			return fmt.Errorf("value: %w", ctx.Err())
		}
		if err := m.add(ctx, scopes[i], into); err != nil {
			into.Note(sample.BadItem, fmt.Sprintf("%s, item %v: %v", m.title(), scopes[i].label(i), err))
		}
	}
	return nil
}

// title is what messages call the metric.
func (m *metric) title() string {
	if m.name == nil {
		return m.config.Name
	}
	return m.config.NameFrom
}

// label is what messages call the item.
func (s scope) label(i int) any {
	if s.key != nil {
		return s.key
	}
	return i
}

// add makes the sample of one item.
func (m *metric) add(ctx context.Context, s scope, into *sample.Selection) error {
	name := m.config.Name
	if m.name != nil {
		var err error
		if name, err = evaluate(ctx, m.name, s, text); err != nil {
			return fmt.Errorf("nameFrom: %w", err)
		}
	}
	if !into.Wants([]byte(name)) {
		return nil
	}
	value, err := evaluate(ctx, m.value, s, number)
	if err != nil {
		return fmt.Errorf("value: %w", err)
	}
	labels := make(map[string]string, len(m.labels))
	for label, e := range m.labels {
		if labels[label], err = evaluate(ctx, e, s, text); err != nil {
			return fmt.Errorf("labels.%s: %w", label, err)
		}
	}
	into.Add(sample.LabelsOf(labels), value, m.config.Unit)
	return nil
}

// evaluate returns what an expression yields, as to makes it.
func evaluate[T any](ctx context.Context, e expression, s scope, to func(any) (T, error)) (T, error) {
	v, err := e(ctx, s)
	if err != nil {
		var none T
		return none, err
	}
	return to(native(v))
}
