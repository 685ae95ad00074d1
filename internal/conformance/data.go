package conformance

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// series is a series as Prometheus answers a range query.
type series struct {
	Metric map[string]string `json:"metric"`
	Values json.RawMessage   `json:"values"`
}

func body(all []series) []byte {
	text, err := json.Marshal(map[string]any{"data": all})
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	return text
}

// past is a value a minute, the newest last.
func past(now time.Time, values ...string) json.RawMessage {
	var b strings.Builder
	for i, v := range values {
		at := now.Add(-time.Minute * time.Duration(len(values)-1-i))
		fmt.Fprintf(&b, ",[%d.%03d,%q]", at.Unix(), at.Nanosecond()/1e6, v)
	}
	return json.RawMessage("[" + strings.TrimPrefix(b.String(), ",") + "]")
}

// ordinary is what most queries give: a few series with labels that most
// have.
func ordinary(now time.Time) []series {
	labels := func(node string) map[string]string {
		return map[string]string{
			"cluster": "spoke-1", "node": node, "instance": node + ":9100", "namespace": "default",
			"pod": "app-" + node, "app": "app", "container": "main", "device": "0", "Hostname": node,
		}
	}
	return []series{
		{labels("node-1"), past(now, "0.5", "0.25", "0.125", "0.5", "0.75")},
		{labels("node-2"), past(now, "1", "1", "1", "1", "1")},
		{labels("node-3"), past(now, "0")},
	}
}

// unknown is series that nobody has heard of: no labels, odd labels, no
// values, and values that are very large, very small and negative.
func unknown(now time.Time) []series {
	return []series{
		{map[string]string{}, past(now, "1e308", "-1e308", "1e-308")},
		{map[string]string{"__name__": "never_heard_of", "": "", "é \"\n": "漢字"}, past(now, "-5")},
		{map[string]string{"node": "node-1"}, past(now)},
	}
}

// noNumbers is what Prometheus writes for results that are none.
func noNumbers(now time.Time) []series {
	return []series{
		{map[string]string{"node": "node-1"}, past(now, "NaN", "+Inf", "-Inf")},
		{map[string]string{"node": "node-2"}, past(now, "0.5", "NaN", "0.5")},
	}
}

// large is two hours of a thousand series, two megabytes and a half.
func large(now time.Time) []series {
	all := make([]series, 1000)
	values := make([]string, 120)
	for i := range values {
		values[i] = strconv.FormatFloat(float64(i)/120, 'f', 3, 64)
	}
	shared := past(now, values...)
	for i := range all {
		all[i] = series{map[string]string{"node": fmt.Sprintf("node-%d", i)}, shared}
	}
	return all
}
