package sampletext

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// SyntaxError says at which byte of an argument the reading stopped, and
// why.
type SyntaxError struct {
	Text   string
	Offset int // in bytes, from 0
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%q, position %d: %s", e.Text, e.Offset+1, e.Reason)
}

// ParseSeries reads one sample, written name=value or
// name{label="value",...}=value. Label values are quoted as in Prometheus
// text: \\, \" and \n are the only escapes. The value is a finite decimal
// number. Every error is a *SyntaxError.
func ParseSeries(text string) (schemas.Sample, error) {
	p := &parser{text: text}
	var s schemas.Sample
	if err := p.series(&s); err != nil {
		return schemas.Sample{}, err
	}
	return s, nil
}

type parser struct {
	text string
	pos  int
}

func (p *parser) series(s *schemas.Sample) error {
	name, err := p.name()
	if err != nil {
		return err
	}
	s.Name = name
	if p.take('{') {
		if s.Labels, err = p.labels(); err != nil {
			return err
		}
	}
	if !p.take('=') {
		return p.fail("want =VALUE, for instance gpu_free=3")
	}
	s.Value, err = p.value()
	return err
}

func (p *parser) name() (string, error) {
	end := strings.IndexAny(p.text, "{=")
	if end < 0 {
		end = len(p.text)
	}
	name := p.text[:end]
	if reason := schemas.CheckMetricName(name); reason != "" {
		return "", p.fail("the metric name " + reason)
	}
	p.pos = end
	return name, nil
}

// labels reads what follows '{', up to and with '}'.
func (p *parser) labels() (map[string]string, error) {
	labels := map[string]string{}
	for {
		p.space()
		if p.take('}') {
			return labels, nil
		}
		if err := p.label(labels); err != nil {
			return nil, err
		}
		p.space()
		if !p.take(',') && !p.peek('}') {
			return nil, p.fail("want , or } after the label")
		}
	}
}

func (p *parser) label(into map[string]string) error {
	start := p.pos
	for p.pos < len(p.text) && isLabelByte(p.text[p.pos], p.pos == start) {
		p.pos++
	}
	name := p.text[start:p.pos]
	if name == "" {
		return p.fail("want a label name: a letter or '_', then also digits")
	}
	if _, twice := into[name]; twice {
		p.pos = start
		return p.fail("label " + name + " is repeated")
	}
	p.space()
	if !p.take('=') {
		return p.fail("want = after label " + name)
	}
	p.space()
	value, err := p.quoted()
	if err != nil {
		return err
	}
	into[name] = value
	return nil
}

func isLabelByte(c byte, first bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		return true
	}
	return c >= '0' && c <= '9' && !first
}

func (p *parser) quoted() (string, error) {
	if !p.take('"') {
		return "", p.fail("want the label's value in double quotes (quote the whole argument for the shell: 'queue{tier=\"a\"}=7')")
	}
	var b strings.Builder
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		p.pos++
		switch c {
		case '"':
			return b.String(), nil
		case '\\':
			if err := p.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", p.fail("the label's value has no closing quote")
}

func (p *parser) escape(b *strings.Builder) error {
	switch {
	case p.take('n'):
		b.WriteByte('\n')
	case p.take('"'):
		b.WriteByte('"')
	case p.take('\\'):
		b.WriteByte('\\')
	default:
		return p.fail(`want n, " or \ after the backslash`)
	}
	return nil
}

func (p *parser) value() (float64, error) {
	text := p.text[p.pos:]
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return 0, p.fail(strconv.Quote(text) + " is not a number")
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, p.fail(strconv.Quote(text) + " is not a finite number")
	}
	return v, nil
}

func (p *parser) space() {
	for p.pos < len(p.text) && p.text[p.pos] == ' ' {
		p.pos++
	}
}

func (p *parser) peek(c byte) bool { return p.pos < len(p.text) && p.text[p.pos] == c }

func (p *parser) take(c byte) bool {
	if !p.peek(c) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) fail(reason string) error {
	return &SyntaxError{Text: p.text, Offset: p.pos, Reason: reason}
}
