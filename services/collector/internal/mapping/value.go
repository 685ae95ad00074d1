package mapping

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// native takes a value out of CEL's, but for what a list or an object holds.
func native(v any) any {
	value, ok := v.(ref.Val)
	if !ok {
		return v
	}
	switch of := value.(type) {
	case traits.Mapper:
		all := map[string]any{}
		for it := of.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			all[fmt.Sprint(key.Value())] = of.Get(key)
		}
		return all
	case traits.Lister:
		var all []any
		for it := of.Iterator(); it.HasNext() == types.True; {
			all = append(all, it.Next())
		}
		return all
	case types.Null:
		return nil
	}
	return value.Value()
}

// split returns the items of a list, or of an object by its keys. Null has
// none.
func split(document, found any) ([]scope, error) {
	var all []scope
	switch items := native(found).(type) {
	case nil:
	case []any:
		for i, item := range items {
			all = append(all, scope{body: document, item: item, key: i})
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(items)) {
			all = append(all, scope{body: document, item: items[key], key: key})
		}
	default:
		return nil, fmt.Errorf("it yields %s, want a list or an object", describe(items))
	}
	return all, nil
}

// number takes numbers, texts that are numbers, and booleans.
func number(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case uint64:
		return float64(v), nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case string:
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // infinite is left out later
			return 0, fmt.Errorf("%.50q is no number", v)
		}
		return n, nil
	}
	return 0, fmt.Errorf("it yields %s, want a number", describe(v))
}

// text takes texts, numbers and booleans.
func text(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case int, int64, uint64, bool:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("it yields %s, want a text", describe(v))
}

func describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%.50q", fmt.Sprint(v))
}
