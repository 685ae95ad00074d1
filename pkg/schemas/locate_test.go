package schemas_test

import (
	"strings"
	"testing"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestNumbersThatJSONHasNot: what a program writes that does not know that
// JSON has no NaN is named with its place.
func TestNumbersThatJSONHasNot(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ data, want string }{
		"NaN":           {`{"samples":[{"name":"a","value":NaN}]}`, "samples[0].value is NaN, which JSON has not"},
		"fourth":        {`{"samples":[{"name":"a","value":1},{},{"labels":{"x":"NaN"}}, {"name":"a", "value": nan}]}`, "samples[3].value is nan, which JSON has not"},
		"infinite":      {`{"samples":[{"value":Infinity}]}`, "samples[0].value is Infinity, which JSON has not"},
		"less than all": {`{"samples":[{"value":-Infinity,"name":"a"}]}`, "samples[0].value is -Infinity, which JSON has not"},
		"plus":          {`{"samples":[{"value": +Inf}]}`, "samples[0].value is +Inf, which JSON has not"},
		"label":         {`{"samples":[{"labels":{"a":"b","tier":NaN}}]}`, "samples[0].labels.tier is NaN, which JSON has not"},
		"alone":         {`NaN`, "data is NaN, which JSON has not"},
		"for a list":    {`{"samples":NaN}`, "samples is NaN, which JSON has not"},
		"in a list":     {`{"samples":[{},NaN]}`, "samples[1] is NaN, which JSON has not"},
		"for a name":    {`{NaN:1}`, "data is NaN, which JSON has not"},
		"too deep":      {strings.Repeat("[", 20) + "NaN", "data is NaN, which JSON has not"},
		"another word":  {`{"samples":nano}`, "data is not JSON: invalid character 'a' in literal null (expecting 'u')"},
		"cut off":       {`{"samples":[{"value":`, "data is not JSON: unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := schemas.Decode(schemas.TypeMetricsObserved, []byte(tt.data))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestFieldAt looks up the place just behind each mark, which is taken out.
func TestFieldAt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`1@`:                          "data",
		`{"a":1@}`:                    "a",
		`{"a":{@"b":1}}`:              "a",
		`{"a":{"b":[1,[2,"x"@]]}}`:    "a.b[1][1]",
		`{"a":{"b":[]},"c":true@}`:    "c",
		`{"a":[{"b":1},{"b":null@}]}`: "a[1].b",
		`[{},{"x":1,"y":[@3]}]`:       "[1].y",
	} {
		before, after, _ := strings.Cut(text, "@")
		if got := schemas.FieldAt([]byte(before+after), int64(len(before))); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
