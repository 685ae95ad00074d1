package expression

import (
	"encoding/json"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"
)

// Limits of cost, in CEL's units: about one for each call and each step of a
// comprehension. They are OCM's, which has them from Kubernetes.
const (
	// MaxCost bounds one expression on one cluster.
	MaxCost = 1_000_000
	// MaxSelectorCost bounds all expressions of one selector on one cluster.
	MaxSelectorCost = 10_000_000
)

const (
	variable          = "managedCluster"
	functionScores    = "scores"
	functionParseJSON = "parseJSON"
)

func newEnv() (*cel.Env, error) {
	env, err := cel.NewEnv(
		cel.Variable(variable, cel.MapType(cel.StringType, cel.DynType)),
		cel.Function(functionScores, cel.MemberOverload("cluster_scores",
			[]*cel.Type{cel.DynType, cel.StringType}, cel.ListType(cel.DynType), cel.BinaryBinding(scores))),
		cel.Function(functionParseJSON, cel.MemberOverload("parse_json_string",
			[]*cel.Type{cel.StringType}, cel.DynType, cel.UnaryBinding(parseJSON))),
		cel.OptionalTypes(),
		ext.Strings(),
		library.Lists(), library.Regex(), library.URLs(), library.Quantity(),
		library.IP(), library.CIDR(), library.Format(), library.SemverLib(),
	)
	if err != nil {
		return nil, fmt.Errorf("CEL environment: %w", err)
	}
	return env, nil
}

// clusterValue is managedCluster: a map that knows where its scores are.
type clusterValue struct {
	traits.Mapper
	scores Scores
}

// scores is managedCluster.scores(NAME).
func scores(cluster, name ref.Val) ref.Val {
	c, ok := cluster.(*clusterValue)
	resource, isString := name.Value().(string)
	if !ok || !isString {
		return types.NewErr("scores() is managedCluster's alone")
	}
	items, found := c.scores(resource)
	if !found {
		return types.NewErr("there is no score %q", resource)
	}
	list := make([]ref.Val, len(items))
	for i, item := range items {
		list[i] = types.NewStringInterfaceMap(types.DefaultTypeAdapter, map[string]any{"name": item.Name, "value": int64(item.Value)})
	}
	return types.NewDynamicList(types.DefaultTypeAdapter, list)
}

func parseJSON(text ref.Val) ref.Val {
	raw, ok := text.Value().(string)
	if !ok {
		return types.NewErr("parseJSON() takes a string")
	}
	var value any
	if err := json.Unmarshal([]byte(raw), &value); err != nil {
		return types.NewErr("parseJSON(): %v", err)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}
