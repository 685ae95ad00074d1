package schemas

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Series names the sample's series as Prometheus writes it, labels sorted:
// name{a="1",b="2"}. It is equal for two samples of the same series only, so
// a label name that is not a plain word is quoted.
func (s *Sample) Series() string {
	if len(s.Labels) == 0 {
		return s.Name
	}
	var b strings.Builder
	b.Grow(len(s.Name) + 32*len(s.Labels))
	b.WriteString(s.Name)
	b.WriteByte('{')
	var few [8]string
	names := slices.AppendSeq(few[:0], maps.Keys(s.Labels))
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		writeLabelName(&b, name)
		b.WriteByte('=')
		b.WriteString(strconv.Quote(s.Labels[name]))
	}
	b.WriteByte('}')
	return b.String()
}

func writeLabelName(b *strings.Builder, name string) {
	for i := range len(name) {
		if c := name[i]; !isNameByte(c, i == 0) || c == ':' || c == '.' {
			b.WriteString(strconv.Quote(name))
			return
		}
	}
	b.WriteString(name)
}
