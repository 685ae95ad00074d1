package mapping

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// jsonPath compiles JSONPath as kubectl knows it. The items are what their
// path finds, so that to a list ends in [*].
type jsonPath struct{}

func (jsonPath) compile(text string, items bool) (expression, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		text = "{" + text + "}"
	}
	parsed, err := jsonpath.Parse("", text)
	if err != nil {
		return nil, err
	}
	if len(parsed.Root.Nodes) != 1 {
		return nil, errors.New("want one path, {.like[*].this}")
	}
	path := jsonpath.New("")
	if err := path.Parse(text); err != nil {
		return nil, err
	}
	return func(_ context.Context, s scope) (any, error) {
		found, err := find(path, s.item)
		switch {
		case err != nil:
			return nil, err
		case items:
			return found, nil
		case len(found) != 1:
			return nil, fmt.Errorf("it finds %d values, want one", len(found))
		}
		return found[0], nil
	}, nil
}

// find returns all values that the path finds.
func find(path *jsonpath.JSONPath, in any) ([]any, error) {
	results, err := path.FindResults(in)
	if err != nil {
		return nil, err
	}
	var found []any
	for _, list := range results {
		for _, v := range list {
			if !v.IsValid() || !v.CanInterface() { // null
				found = append(found, nil)
				continue
			}
			found = append(found, v.Interface())
		}
	}
	return found, nil
}
