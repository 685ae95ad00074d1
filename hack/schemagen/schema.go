package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Schemas returns the text of every schema by its file name. packageDir
// holds the source of package schemas, for its comments.
func Schemas(packageDir string) (map[string][]byte, error) {
	docs, err := readComments(packageDir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, eventType := range schemas.Types() {
		p, err := schemas.New(eventType)
		if err != nil {
			return nil, err
		}
		g := generator{docs: docs, defs: object{}}
		text, err := encode(g.document(eventType, reflect.TypeOf(p).Elem()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", eventType, err)
		}
		files[eventType+".json"] = text
	}
	return files, nil
}

func encode(schema object) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(schema)
	return b.Bytes(), err
}

// generator collects the definitions that one document needs.
type generator struct {
	docs comments
	defs object
}

func (g *generator) document(eventType string, t reflect.Type) object {
	root := g.structSchema(t)
	maps.Copy(root, object{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"$id":     events.SchemaURI(eventType),
		"title":   t.Name(),
	})
	if len(g.defs) > 0 {
		root["$defs"] = g.defs
	}
	return root
}

func (g *generator) structSchema(t reflect.Type) object {
	properties, required := object{}, []string{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		properties[name] = g.fieldSchema(t, f, name)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	schema := object{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	if doc := g.docs[t.Name()]; doc != "" {
		schema["description"] = doc
	}
	maps.Copy(schema, typeRules[t.Name()])
	return schema
}

func (g *generator) fieldSchema(owner reflect.Type, f reflect.StructField, name string) object {
	schema := g.schema(f.Type)
	maps.Copy(schema, fieldRules[owner.Name()+"."+name])
	if doc := g.docs[owner.Name()+"."+f.Name]; doc != "" {
		schema["description"] = doc
	}
	return schema
}

// schema returns a new schema of a value of type t, for the caller to add to.
func (g *generator) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time", "pattern": timestamp}
	case reflect.TypeFor[schemas.Duration]():
		return object{"type": "string", "pattern": duration}
	case reflect.TypeFor[[]byte]():
		return object{"type": "string", "contentEncoding": "base64", "pattern": base64}
	case reflect.TypeFor[json.RawMessage]():
		return object{"type": "object"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.schema(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": g.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.schema(t.Elem())}
	case reflect.Struct:
		if _, done := g.defs[t.Name()]; !done {
			g.defs[t.Name()] = nil // ends a recursion
			g.defs[t.Name()] = g.structSchema(t)
		}
		return object{"$ref": "#/$defs/" + t.Name()}
	}
	return scalar(t.Kind())
}

func scalar(k reflect.Kind) object {
	switch k {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int32:
		return object{"type": "integer", "minimum": math.MinInt32, "maximum": math.MaxInt32}
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0, "maximum": uint64(math.MaxUint64)}
	}
	return object{"type": "integer", "minimum": math.MinInt64, "maximum": math.MaxInt64}
}
