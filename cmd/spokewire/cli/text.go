package cli

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spokewire/spokewire/internal/brief"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// list joins items for a table cell and counts those that it leaves out.
func list(items []string) string { return brief.List(items) }

func pairs(m map[string]string) []string {
	items := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		items = append(items, key+"="+m[key])
	}
	return items
}

func taints(taints []schemas.Taint) []string {
	items := make([]string, 0, len(taints))
	for _, t := range taints {
		key := t.Key
		if t.Value != "" {
			key += "=" + t.Value
		}
		items = append(items, key+":"+t.Effect)
	}
	return items
}

func samples(samples []schemas.Sample) []string {
	items := make([]string, 0, len(samples))
	for i := range samples {
		items = append(items, samples[i].Series()+"="+number(samples[i].Value))
	}
	return items
}

func scoreItems(items []schemas.ScoreItem) []string {
	texts := make([]string, 0, len(items))
	for _, item := range items {
		texts = append(texts, item.Name+"="+valueOr(item.Value, item.Reason))
	}
	return texts
}

func valueOr(value *int32, otherwise string) string {
	if value == nil {
		return otherwise
	}
	return strconv.Itoa(int(*value))
}

// shorten cuts what would fill a screen by itself.
func shorten(s string) string {
	const longest = 120
	if r := []rune(s); len(r) > longest {
		return string(r[:longest-1]) + "…"
	}
	return s
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// clock writes a moment of today, in local time as people read it.
func clock(t time.Time) string { return t.Local().Format("15:04:05.000") }

// span writes a duration as people say it: 3s, 12m, 5h, 9d.
func span(d time.Duration) string {
	units := []struct {
		unit, below time.Duration
		sign        string
	}{
		{time.Millisecond, time.Second, "ms"},
		{time.Second, 2 * time.Minute, "s"},
		{time.Minute, 2 * time.Hour, "m"},
		{time.Hour, 48 * time.Hour, "h"},
	}
	for _, u := range units {
		if rounded := d.Round(u.unit); rounded.Abs() < u.below {
			return strconv.FormatInt(int64(rounded/u.unit), 10) + u.sign
		}
	}
	const day = 24 * time.Hour
	return strconv.FormatInt(int64(d.Round(day)/day), 10) + "d"
}

// age is the span from t to now; a cell of its own for a moment that never
// was.
func age(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return span(max(now.Sub(t), 0))
}

func millis(ms float64) string {
	return span(time.Duration(ms * float64(time.Millisecond)))
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
