package schemas

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// plainMetrics parses a metrics payload that is written as most are: every
// field known and there once, no escapes by number in strings, no null. It reports
// false for any other, right or wrong, which is left to the general way. It
// takes nothing that the general way does not, with the same result, at a
// fifth of the time: what a scorer does most is to read metrics.
func plainMetrics(data []byte, m *Metrics) bool {
	if !utf8.Valid(data) {
		return false
	}
	p := plain{text: string(data)}
	var seen bool
	whole := p.object(func(name string) bool {
		if name != "samples" || seen {
			return false
		}
		seen = true
		m.Samples = make([]Sample, 0, min(MaxSamples, strings.Count(p.text, `"name"`)))
		return p.list(func() bool {
			m.Samples = append(m.Samples, Sample{})
			return p.sample(&m.Samples[len(m.Samples)-1])
		})
	})
	return whole && seen && p.peek() == 0
}

// plain reads JSON in plain form. Its strings are parts of text.
type plain struct {
	text string
	pos  int
}

func (p *plain) sample(s *Sample) bool {
	var name, value, labels, unit bool
	whole := p.object(func(field string) bool {
		switch field {
		case "name":
			return once(&name) && p.string(&s.Name)
		case "value":
			return once(&value) && p.number(&s.Value)
		case "labels":
			return once(&labels) && p.labels(&s.Labels)
		case "unit":
			return once(&unit) && p.string(&s.Unit)
		}
		return false
	})
	return whole && name && value
}

// once reports whether a field is there for the first time.
func once(seen *bool) bool {
	first := !*seen
	*seen = true
	return first
}

func (p *plain) labels(to *map[string]string) bool {
	labels := map[string]string{}
	*to = labels
	return p.object(func(name string) bool {
		var value string
		if _, twice := labels[name]; twice || !p.string(&value) {
			return false
		}
		labels[name] = value
		return true
	})
}

// object reads an object, whose values field reads.
func (p *plain) object(field func(name string) bool) bool {
	if !p.take('{') {
		return false
	}
	if p.take('}') {
		return true
	}
	for {
		var name string
		if !p.string(&name) || !p.take(':') || !field(name) {
			return false
		}
		if p.take('}') {
			return true
		}
		if !p.take(',') {
			return false
		}
	}
}

// list reads an array, whose values item reads.
func (p *plain) list(item func() bool) bool {
	if !p.take('[') {
		return false
	}
	if p.take(']') {
		return true
	}
	for {
		if !item() {
			return false
		}
		if p.take(']') {
			return true
		}
		if !p.take(',') {
			return false
		}
	}
}

// peek returns the next byte that is no white space, or 0 at the end.
func (p *plain) peek() byte {
	for ; p.pos < len(p.text); p.pos++ {
		switch b := p.text[p.pos]; b {
		case ' ', '\t', '\r', '\n':
		case 0:
			return ' ' // stands for nothing in JSON, and must not pass for the end
		default:
			return b
		}
	}
	return 0
}

func (p *plain) take(b byte) bool {
	if p.peek() != b {
		return false
	}
	p.pos++
	return true
}

func (p *plain) string(to *string) bool {
	if !p.take('"') {
		return false
	}
	for i := p.pos; i < len(p.text); i++ {
		switch b := p.text[i]; {
		case b == '"':
			*to = p.text[p.pos:i]
			p.pos = i + 1
			return true
		case b == '\\':
			return p.escaped(i, to)
		case b < ' ':
			return false
		}
	}
	return false
}

// escapes are those of one letter. Others are left to the general way.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

// escaped is string from the first escape on, at i.
func (p *plain) escaped(i int, to *string) bool {
	out := append(make([]byte, 0, i-p.pos+64), p.text[p.pos:i]...)
	for ; i < len(p.text); i++ {
		switch b := p.text[i]; {
		case b == '"':
			*to = string(out)
			p.pos = i + 1
			return true
		case b == '\\' && i+1 < len(p.text) && escapes[p.text[i+1]] != 0:
			i++
			out = append(out, escapes[p.text[i]])
		case b < ' ' || b == '\\':
			return false
		default:
			out = append(out, b)
		}
	}
	return false
}

func (p *plain) number(to *float64) bool {
	p.peek()
	start := p.pos
	if p.next('-'); !p.next('0') && !p.digits() {
		return false
	}
	if p.next('.') && !p.digits() {
		return false
	}
	if p.next('e') || p.next('E') {
		if !p.next('-') {
			p.next('+')
		}
		if !p.digits() {
			return false
		}
	}
	var err error
	*to, err = strconv.ParseFloat(p.text[start:p.pos], 64)
	return err == nil
}

// next takes b where it stands at once.
func (p *plain) next(b byte) bool {
	if p.pos == len(p.text) || p.text[p.pos] != b {
		return false
	}
	p.pos++
	return true
}

func (p *plain) digits() bool {
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > start
}
