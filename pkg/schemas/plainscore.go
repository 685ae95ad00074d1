package schemas

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// plainScore is plainMetrics for scores, which every decider and bridge reads
// all of when it starts.
func plainScore(data []byte, s *Score) bool {
	if !utf8.Valid(data) {
		return false
	}
	p := plain{text: string(data)}
	var cluster, scorer, items, until, validFor, off, origin, basis bool
	whole := p.object(func(field string) bool {
		switch field {
		case "cluster":
			return once(&cluster) && p.own(&s.Cluster)
		case "scorer":
			return once(&scorer) && p.own(&s.Scorer)
		case "items":
			s.Items = []ScoreItem{}
			return once(&items) && p.list(func() bool {
				s.Items = append(s.Items, ScoreItem{})
				return p.item(&s.Items[len(s.Items)-1])
			})
		case "validUntil":
			s.ValidUntil = new(time.Time)
			return once(&until) && p.by(s.ValidUntil)
		case "validFor":
			return once(&validFor) && p.by(&s.ValidFor)
		case "hubOff":
			return once(&off) && p.flag(&s.HubOff)
		case "origin":
			s.Origin = &Origin{}
			return once(&origin) && p.origin(s.Origin)
		case "basis":
			s.Basis = map[string]uint64{}
			return once(&basis) && p.positions(s.Basis)
		}
		return false
	})
	return whole && cluster && scorer && items && p.peek() == 0
}

func (p *plain) item(i *ScoreItem) bool {
	var name, value, raw, reason, message, inputs bool
	whole := p.object(func(field string) bool {
		switch field {
		case "name":
			return once(&name) && p.own(&i.Name)
		case "value":
			var n int64
			if !once(&value) || !p.integer(&n, 32) {
				return false
			}
			short := int32(n)
			i.Value = &short
			return true
		case "raw":
			i.Raw = new(float64)
			return once(&raw) && p.number(i.Raw)
		case "reason":
			return once(&reason) && p.own(&i.Reason)
		case "message":
			return once(&message) && p.own(&i.Message)
		case "inputs":
			i.Inputs = []ScoreInput{}
			return once(&inputs) && p.list(func() bool {
				i.Inputs = append(i.Inputs, ScoreInput{})
				return p.input(&i.Inputs[len(i.Inputs)-1])
			})
		}
		return false
	})
	return whole && name && reason
}

func (p *plain) input(i *ScoreInput) bool {
	var kind, name, value, subject, sequence, observed, first, points bool
	whole := p.object(func(field string) bool {
		switch field {
		case "kind":
			return once(&kind) && p.own(&i.Kind)
		case "name":
			return once(&name) && p.own(&i.Name)
		case "value":
			return once(&value) && p.own(&i.Value)
		case "subject":
			return once(&subject) && p.own(&i.Subject)
		case "sequence":
			return once(&sequence) && p.position(&i.Sequence)
		case "observedAt":
			i.ObservedAt = new(time.Time)
			return once(&observed) && p.by(i.ObservedAt)
		case "first":
			return once(&first) && p.position(&i.First)
		case "points":
			var n int64
			if !once(&points) || !p.integer(&n, strconv.IntSize) {
				return false
			}
			i.Points = int(n)
			return true
		}
		return false
	})
	return whole && kind && name && value
}

func (p *plain) origin(o *Origin) bool {
	var id, subject, received bool
	whole := p.object(func(field string) bool {
		switch field {
		case "id":
			return once(&id) && p.own(&o.ID)
		case "subject":
			return once(&subject) && p.own(&o.Subject)
		case "receivedAt":
			return once(&received) && p.by(&o.ReceivedAt)
		}
		return false
	})
	return whole && id && subject && received
}

func (p *plain) positions(to map[string]uint64) bool {
	return p.object(func(stream string) bool {
		var n uint64
		if _, twice := to[stream]; twice || !p.position(&n) {
			return false
		}
		to[strings.Clone(stream)] = n
		return true
	})
}

// own is string for one who keeps it: a part of text would keep all of text.
func (p *plain) own(to *string) bool {
	if !p.string(to) {
		return false
	}
	*to = strings.Clone(*to)
	return true
}

// by has a value read its own text.
func (p *plain) by(to json.Unmarshaler) bool {
	p.peek()
	start := p.pos
	var text string
	return p.string(&text) && to.UnmarshalJSON([]byte(p.text[start:p.pos])) == nil
}

func (p *plain) flag(to *bool) bool {
	p.peek()
	for text, value := range map[string]bool{"true": true, "false": false} {
		if end := p.pos + len(text); end <= len(p.text) && p.text[p.pos:end] == text {
			p.pos, *to = end, value
			return true
		}
	}
	return false
}

func (p *plain) position(to *uint64) bool {
	p.peek()
	start := p.pos
	if !p.next('0') && !p.digits() {
		return false
	}
	var err error
	*to, err = strconv.ParseUint(p.text[start:p.pos], 10, 64)
	return err == nil
}

func (p *plain) integer(to *int64, bits int) bool {
	p.peek()
	start := p.pos
	if p.next('-'); !p.next('0') && !p.digits() {
		return false
	}
	var err error
	*to, err = strconv.ParseInt(p.text[start:p.pos], 10, bits)
	return err == nil
}
