package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// strict checks the form of one JSON value against a shape, which
// encoding/json does not: it takes names in any case, a name twice, null
// for anything, and does not tell a missing number from 0. The data is
// known to be JSON.
type strict struct {
	data []byte
	pos  int
	path []step
	// parse has each leaf parsed too, to find the one that does not.
	parse bool
}

// step is one part of the path to a value: a name, or an index where that is
// empty.
type step struct {
	name  string
	index int
}

// at writes out the path to the value at hand, with name behind it unless
// that is empty.
func (c *strict) at(name string) string {
	var b strings.Builder
	for _, s := range append(c.path, step{name, -1}) {
		switch {
		case s.name == "" && s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case b.Len() > 0 && s.name != "":
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	if b.Len() == 0 {
		return "data"
	}
	return b.String()
}

func checkForm(data []byte, s *shape) *FieldError {
	c := strict{data: data}
	return c.value(s)
}

// findUnparsable names the leaf that encoding/json does not take.
func findUnparsable(data []byte, s *shape) *FieldError {
	c := strict{data: data, parse: true}
	return c.value(s)
}

// refuse names the value at hand, with name behind it unless that is empty.
func (c *strict) refuse(name, format string, args ...any) *FieldError {
	return &FieldError{Field: c.at(name), Reason: fmt.Sprintf(format, args...)}
}

func (c *strict) value(s *shape) *FieldError {
	got := c.peek()
	if got != s.first() && (s.kind != kindNumber || !isNumberByte(got)) && (s.kind != kindBool || got != 't' && got != 'f') {
		return c.refuse("", "is %s, want %s", valueName(got), s.kind)
	}
	switch s.kind {
	case kindStruct:
		return c.object(s)
	case kindMapping:
		return c.mapping(s)
	case kindList:
		return c.list(s)
	}
	start := c.pos
	c.skip()
	if c.parse {
		return c.parseLeaf(c.data[start:c.pos], s.leaf)
	}
	return nil
}

func (c *strict) parseLeaf(data []byte, t reflect.Type) *FieldError {
	err := json.Unmarshal(data, reflect.New(t).Interface())
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return c.refuse("", "is %s, which is no %s", data, t.Kind())
	case err != nil:
		return c.refuse("", "is %.64s: %v", data, err)
	}
	return nil
}

// first is the byte that a value of the shape begins with, where that is one.
func (s *shape) first() byte {
	switch s.kind {
	case kindStruct, kindMapping, kindRaw:
		return '{'
	case kindList:
		return '['
	case kindString:
		return '"'
	}
	return 0
}

func (c *strict) object(s *shape) *FieldError {
	var seen uint64
	c.pos++
	for !c.closed('}') {
		name := c.key()
		i := s.index(name)
		switch {
		case i < 0:
			return c.refuse(string(name), "is not known here, known are %s", s.names())
		case seen&(1<<i) != 0:
			return c.refuse(string(name), "repeats its name")
		}
		seen |= 1 << i
		c.path = append(c.path, step{name: s.fields[i].name})
		if err := c.value(s.fields[i].shape); err != nil {
			return err
		}
		c.path = c.path[:len(c.path)-1]
	}
	for i, f := range s.fields {
		if f.required && seen&(1<<i) == 0 {
			return c.refuse(f.name, "is missing")
		}
	}
	return nil
}

func (s *shape) index(name []byte) int {
	for i := range s.fields {
		if s.fields[i].name == string(name) {
			return i
		}
	}
	return -1
}

func (c *strict) mapping(s *shape) *FieldError {
	var seen names
	c.pos++
	for !c.closed('}') {
		name := c.key()
		if !seen.add(name) {
			return c.refuse(string(name), "repeats its name")
		}
		// The name is only put on the path where there is an error to name.
		if err := c.value(s.elem); err != nil {
			return c.refuse(string(name), "%s", err.Reason)
		}
	}
	return nil
}

func (c *strict) list(s *shape) *FieldError {
	c.pos++
	c.path = append(c.path, step{})
	last := len(c.path) - 1
	for ; !c.closed(']'); c.path[last].index++ {
		if err := c.value(s.elem); err != nil {
			return err
		}
	}
	c.path = c.path[:last]
	return nil
}

// names is a set that is small as a rule.
type names struct {
	few  [16][]byte
	n    int
	many map[string]struct{}
}

// add reports whether name is new.
func (s *names) add(name []byte) bool {
	for _, other := range s.few[:s.n] {
		if bytes.Equal(other, name) {
			return false
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return true
	}
	if s.many == nil {
		s.many = map[string]struct{}{}
	}
	_, twice := s.many[string(name)]
	s.many[string(name)] = struct{}{}
	return !twice
}
