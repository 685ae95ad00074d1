package schemas

import (
	"bytes"
	"encoding/json"
)

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
	switch first {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}
