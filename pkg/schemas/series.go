package schemas

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Series names the sample's series as Prometheus writes it, labels sorted:
// name{a="1",b="2"}. It is equal for two samples of the same series only.
func (s *Sample) Series() string {
	if len(s.Labels) == 0 {
		return s.Name
	}
	var b strings.Builder
	b.WriteString(s.Name)
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(s.Labels)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(strconv.Quote(s.Labels[name]))
	}
	b.WriteByte('}')
	return b.String()
}
