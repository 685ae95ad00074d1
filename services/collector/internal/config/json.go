package config

import (
	"cmp"
	"fmt"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Syntaxes of a mapping's expressions.
const (
	SyntaxCEL      = "cel"
	SyntaxJSONPath = "jsonpath"
)

const (
	maxMappings      = 100
	maxExpression    = 4096
	maxMappingLabels = schemas.MaxLabels
)

// JSON fetches a document and makes samples of what is in it.
type JSON struct {
	URL string `json:"url"`
	// Syntax of all expressions: cel or jsonpath. Default cel.
	Syntax  string    `json:"syntax,omitempty"`
	Metrics []Mapping `json:"metrics"`
}

// Mapping makes a sample of each of some items. In CEL, body is the
// document, item the item, and key its key in an object or its place in a
// list. A JSONPath begins at the item, that of Items at the document.
type Mapping struct {
	// Name is that of the samples; NameFrom, in its place, an expression.
	Name     string `json:"name,omitempty"`
	NameFrom string `json:"nameFrom,omitempty"`
	// Items is an expression that yields a list or an object. Default: the
	// document is the only item.
	Items string `json:"items,omitempty"`
	// Value is an expression that yields a number, a text that is one, or a
	// boolean.
	Value string `json:"value"`
	// Labels are expressions by the label's name.
	Labels map[string]string `json:"labels,omitempty"`
	// Unit of the samples, for people.
	Unit string `json:"unit,omitempty"`
}

func (j *JSON) setDefaults() { j.Syntax = cmp.Or(j.Syntax, SyntaxCEL) }

func (j *JSON) validate() error {
	if err := checkURL("url", j.URL); err != nil {
		return err
	}
	switch n := len(j.Metrics); {
	case j.Syntax != SyntaxCEL && j.Syntax != SyntaxJSONPath:
		return fieldErrorf("syntax", "is %q, want cel or jsonpath", j.Syntax)
	case n == 0:
		return fieldErrorf("metrics", "is empty: say what to make of the document")
	case n > maxMappings:
		return fieldErrorf("metrics", "has %d items, at most %d are taken: use several sources", n, maxMappings)
	}
	for i := range j.Metrics {
		if err := j.Metrics[i].validate(); err != nil {
			return within(fmt.Sprintf("metrics[%d].", i), err)
		}
	}
	return nil
}

// validate checks all but the syntax of the expressions.
func (m *Mapping) validate() error {
	switch {
	case (m.Name == "") == (m.NameFrom == ""):
		return fieldErrorf("name", "or nameFrom is wanted, one of them")
	case m.Name != "" && schemas.CheckMetricName(m.Name) != "":
		return fieldErrorf("name", "%s", schemas.CheckMetricName(m.Name))
	case m.Value == "":
		return fieldErrorf("value", "is missing: an expression, for instance item.price")
	case len(m.Labels) > maxMappingLabels:
		return fieldErrorf("labels", "has %d items, at most %d are taken", len(m.Labels), maxMappingLabels)
	}
	for field, text := range m.Expressions() {
		if len(text) > maxExpression {
			return fieldErrorf(field, "has %d bytes, at most %d are taken", len(text), maxExpression)
		}
	}
	return nil
}

// Expressions are those that are given, by their field.
func (m *Mapping) Expressions() map[string]string {
	all := map[string]string{"value": m.Value}
	if m.NameFrom != "" {
		all["nameFrom"] = m.NameFrom
	}
	if m.Items != "" {
		all["items"] = m.Items
	}
	for name, text := range m.Labels {
		all["labels."+name] = text
	}
	return all
}
