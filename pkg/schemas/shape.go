package schemas

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// shape is what a Go type looks like in JSON, as far as the form goes.
type shape struct {
	kind jsonKind
	// fields are those of a struct, in their order.
	fields []field
	// elem is the shape of a list's or a mapping's values.
	elem *shape
	// leaf is the Go type of what holds no other shape.
	leaf reflect.Type
}

type field struct {
	name     string
	required bool // no omitempty or omitzero: it is always written
	shape    *shape
}

type jsonKind string

const (
	kindStruct  jsonKind = "object"
	kindMapping jsonKind = "object of any names"
	kindRaw     jsonKind = "object of any content"
	kindList    jsonKind = "array"
	kindString  jsonKind = "string"
	kindNumber  jsonKind = "number"
	kindBool    jsonKind = "true or false"
)

// shapes holds the shape of every payload, by type.
var shapes = payloadShapes()

func payloadShapes() map[reflect.Type]*shape {
	all := map[reflect.Type]*shape{}
	for _, newPayload := range types {
		t := reflect.TypeOf(newPayload()).Elem()
		all[t] = shapeOf(t)
	}
	return all
}

// shapeOf panics for a type that no payload may hold; every payload's shape
// is built when the program starts.
func shapeOf(t reflect.Type) *shape {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[Duration](), reflect.TypeFor[[]byte]():
		return &shape{kind: kindString, leaf: t}
	case reflect.TypeFor[json.RawMessage]():
		return &shape{kind: kindRaw, leaf: t}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.String:
		return &shape{kind: kindString, leaf: t}
	case reflect.Bool:
		return &shape{kind: kindBool, leaf: t}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64, reflect.Float64:
		return &shape{kind: kindNumber, leaf: t}
	case reflect.Slice:
		return &shape{kind: kindList, elem: shapeOf(t.Elem())}
	case reflect.Map:
		return &shape{kind: kindMapping, elem: shapeOf(t.Elem())}
	case reflect.Struct:
		return &shape{kind: kindStruct, fields: fieldsOf(t)}
	}
	panic("schemas: a payload holds the type " + t.String())
}

func fieldsOf(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, field{name: name, required: !strings.Contains(options, "omit"), shape: shapeOf(f.Type)})
	}
	return fields
}

func (s *shape) names() string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}
