package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
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

func checkForm(data []byte, s *shape) error {
	c := strict{data: data}
	return c.value(s)
}

// findUnparsable names the leaf that encoding/json does not take.
func findUnparsable(data []byte, s *shape) error {
	c := strict{data: data, parse: true}
	return c.value(s)
}

func (c *strict) value(s *shape) error {
	got := c.peek()
	if got != s.first() && (s.kind != kindNumber || !isNumberByte(got)) && (s.kind != kindBool || got != 't' && got != 'f') {
		return fieldErrorf(c.at(""), "is %s, want %s", valueName(got), s.kind)
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

func (c *strict) parseLeaf(data []byte, t reflect.Type) error {
	err := json.Unmarshal(data, reflect.New(t).Interface())
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fieldErrorf(c.at(""), "is %s, which is no %s", data, t.Kind())
	case err != nil:
		return fieldErrorf(c.at(""), "is %.64s: %v", data, err)
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

func (c *strict) object(s *shape) error {
	var seen uint64
	c.pos++
	for !c.closed('}') {
		name := c.key()
		i := s.index(name)
		switch {
		case i < 0:
			return fieldErrorf(c.at(string(name)), "is not known here, known are %s", s.names())
		case seen&(1<<i) != 0:
			return fieldErrorf(c.at(string(name)), "repeats its name")
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
			return fieldErrorf(c.at(f.name), "is missing")
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

func (c *strict) mapping(s *shape) error {
	var seen names
	c.pos++
	for !c.closed('}') {
		name := c.key()
		if !seen.add(name) {
			return fieldErrorf(c.at(string(name)), "repeats its name")
		}
		// The name is only put on the path where there is an error to name.
		if err := c.value(s.elem); err != nil {
			return fieldErrorf(c.at(string(name)), "%s", err.(*FieldError).Reason)
		}
	}
	return nil
}

func (c *strict) list(s *shape) error {
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

// peek returns the first byte of the next value or bracket.
func (c *strict) peek() byte {
	for c.pos < len(c.data) {
		switch b := c.data[c.pos]; b {
		case ' ', '\t', '\r', '\n', ',', ':':
			c.pos++
		default:
			return b
		}
	}
	return 0
}

// closed reports whether the list or object ends here, and then leaves it
// behind.
func (c *strict) closed(end byte) bool {
	if c.peek() != end {
		return false
	}
	c.pos++
	return true
}

// key reads the name of a field.
func (c *strict) key() []byte {
	c.peek()
	start := c.pos
	c.skipString()
	raw := c.data[start:c.pos]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		return raw
	}
	return []byte(name)
}

func (c *strict) skipString() {
	for c.pos++; c.data[c.pos] != '"'; c.pos++ {
		if c.data[c.pos] == '\\' {
			c.pos++
		}
	}
	c.pos++
}

// skip leaves the value that begins here behind.
func (c *strict) skip() {
	depth := 0
	for {
		switch b := c.peek(); b {
		case '"':
			c.skipString()
		case '{', '[':
			depth++
			c.pos++
		case '}', ']':
			depth--
			c.pos++
		default:
			for c.pos < len(c.data) && isWordByte(c.data[c.pos]) {
				c.pos++
			}
		}
		if depth == 0 {
			return
		}
	}
}

func isNumberByte(b byte) bool { return b == '-' || b >= '0' && b <= '9' }

// isWordByte reports whether b may stand in a number, true, false or null.
func isWordByte(b byte) bool {
	return isNumberByte(b) || b == '+' || b == '.' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func valueName(first byte) string {
	switch {
	case first == '{':
		return "an object"
	case first == '[':
		return "an array"
	case first == '"':
		return "a string"
	case first == 'n':
		return "null"
	case first == 't' || first == 'f':
		return "true or false"
	}
	return "a number"
}
