package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// maxLocated bounds how deep a field is named.
const maxLocated = 16

// FieldAt names the field of a JSON text that holds what stands at offset, or
// ends there, as FieldError does: the text need only be JSON up to there. It
// is "data" for the whole, and for what lies too deep to be named.
func FieldAt(data []byte, offset int64) string {
	l := locator{decoder: json.NewDecoder(bytes.NewReader(data))}
	l.decoder.UseNumber()
	for l.decoder.InputOffset() < offset {
		token, err := l.decoder.Token()
		if err != nil {
			break
		}
		if l.decoder.InputOffset() >= offset && token != json.Delim('}') && token != json.Delim(']') {
			l.name(token)
			break
		}
		l.take(token)
	}
	return l.path()
}

// locator follows where in a text its decoder stands.
type locator struct {
	decoder *json.Decoder
	open    []container
}

// container is an object or a list that is not closed yet.
type container struct {
	at     step
	object bool
	// named is true between a name and its value.
	named bool
}

func (l *locator) top() *container {
	if len(l.open) == 0 {
		return &container{}
	}
	return &l.open[len(l.open)-1]
}

func (l *locator) take(token json.Token) {
	switch token {
	case json.Delim('{'):
		l.open = append(l.open, container{object: true})
		return
	case json.Delim('['):
		l.open = append(l.open, container{})
		return
	case json.Delim('}'), json.Delim(']'):
		l.open = l.open[:len(l.open)-1]
	default:
		if l.name(token) {
			return
		}
	}
	if top := l.top(); top.object {
		top.named = false
	} else {
		top.at.index++
	}
}

// name reports whether token is the name of a field.
func (l *locator) name(token json.Token) bool {
	top := l.top()
	if !top.object || top.named {
		return false
	}
	top.at.name, _ = token.(string)
	top.named = true
	return true
}

func (l *locator) path() string {
	var c strict
	for _, open := range l.open {
		if open.object && open.at.name == "" {
			break // before its first name
		}
		c.path = append(c.path, open.at)
	}
	if len(c.path) > maxLocated {
		return "data"
	}
	return c.at("")
}

// missingNumber returns a number that JSON has not, such as NaN, if that is
// what stands at offset.
func missingNumber(data []byte, offset int64) (word string, start int64) {
	start, end := max(offset-1, 0), max(offset-1, 0)
	for start > 0 && isWordByte(data[start-1]) {
		start--
	}
	for end < int64(len(data)) && isWordByte(data[end]) {
		end++
	}
	word = string(data[start:end])
	switch strings.ToLower(strings.TrimLeft(word, "+-")) {
	case "nan", "inf", "infinity":
		return word, start
	}
	return "", 0
}

// notJSON says what is wrong with data that is not JSON. Programs that write
// a number which JSON has not are common enough to be told where.
func notJSON(data []byte, err error) error {
	var bad *json.SyntaxError
	if errors.As(err, &bad) && bad.Offset <= int64(len(data)) {
		if word, start := missingNumber(data, bad.Offset); word != "" {
			return fieldErrorf(FieldAt(data[:start], start+1), "is %s, which JSON has not", word)
		}
	}
	return fieldErrorf("data", "is not JSON: %v", err)
}
