package mapping

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

// FuzzApply gives a mapping any document and any expressions: what it makes
// of them the bus takes, and what it does not is said.
func FuzzApply(f *testing.F) {
	f.Add([]byte(`{"regions":[{"name":"a","price":1},{"name":"b","price":"2.5"}]}`), "body.regions", "item.price", "item.name", false)
	f.Add([]byte(`{"regions":{"a":{"price":true}}}`), "body.regions", "item.price", "key", false)
	f.Add([]byte(`{"regions":[{"price":null}]}`), "{.regions[*]}", "{.price}", "{.name}", true)
	f.Add([]byte(`[[1],[2,[3]]]`), "{..}", "{[0]}", "{@}", true)
	f.Add([]byte(`{"a":1}`), "", "1e999", "[1, 2]", false)
	f.Fuzz(func(t *testing.T, document []byte, items, value, label string, path bool) {
		var decoded any
		if json.Unmarshal(document, &decoded) != nil {
			return
		}
		c := config.JSON{Syntax: config.SyntaxCEL, Metrics: []config.Mapping{{Name: "x", Items: items, Value: value, Labels: map[string]string{"l": label}}}}
		if path {
			c.Syntax = config.SyntaxJSONPath
		}
		m, err := Compile(c)
		if err != nil {
			return
		}
		selection := (&sample.Rules{}).Start()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.Apply(ctx, decoded, selection); err != nil && failure.Of(err) == "" {
			t.Fatalf("the error %v has no reason", err)
		}
		snapshot, err := selection.Snapshot()
		if err != nil {
			return
		}
		if err := (&schemas.Metrics{Samples: snapshot.Samples}).Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
