package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// schema is as much of a JSON Schema as a class can say.
type schema struct {
	Title, Description, Type, Format, Pattern, Const string
	ContentEncoding                                  string
	Ref                                              string `json:"$ref"`
	Enum                                             []string
	Properties                                       map[string]*schema
	Required                                         []string
	Items                                            *schema
	AdditionalProperties                             *either
	PropertyNames                                    *schema
	Minimum, Maximum                                 *json.Number
	MinLength, MaxLength, MinItems, MaxItems         *int
	MaxProperties                                    *int
	Defs                                             map[string]*schema `json:"$defs"`
}

// either is a schema, or nil for false.
type either struct{ *schema }

func (e *either) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		return nil
	}
	return json.Unmarshal(data, &e.schema)
}

// library is every class by its name, and the class of each event type.
type library struct {
	classes map[string]*schema
	types   map[string]string
}

func readSchemas(dir string) (library, error) {
	l := library{classes: map[string]*schema{}, types: map[string]string{}}
	for _, eventType := range schemas.Types() {
		text, err := os.ReadFile(filepath.Join(dir, eventType+".json"))
		if err != nil {
			return l, err
		}
		var s schema
		if err := json.Unmarshal(text, &s); err != nil {
			return l, fmt.Errorf("%s: %w", eventType, err)
		}
		if s.Title == "" {
			return l, fmt.Errorf("%s: %w", eventType, errors.New("has no title to name a class by"))
		}
		l.types[eventType] = s.Title
		if err := l.add(s.Title, &s); err != nil {
			return l, err
		}
		for name, def := range s.Defs {
			if err := l.add(name, def); err != nil {
				return l, err
			}
		}
	}
	return l, nil
}

// add refuses two classes of one name that differ.
func (l library) add(name string, s *schema) error {
	known, twice := l.classes[name]
	if twice && !slices.Equal(known.names(), s.names()) {
		return fmt.Errorf("two classes are called %s: %v and %v", name, known.names(), s.names())
	}
	l.classes[name] = s
	return nil
}

// names are those of the required fields as the struct has them, then the
// others.
func (s *schema) names() []string {
	all := slices.Clone(s.Required)
	var others []string
	for name := range s.Properties {
		if !slices.Contains(all, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	return append(all, others...)
}

// isDuration tells a Go duration, which JSON Schema has no format for.
func (s *schema) isDuration() bool { return strings.Contains(s.Pattern, "(ns|us|") }
