package expression

import (
	"math"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// prices are what OCM's functions cost. All others cost what CEL says.
type prices struct{}

// CallCost implements interpreter.ActualCostEstimator.
func (prices) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	var cost uint64
	switch function {
	case functionScores:
		cost = common.ListCreateBaseCost
		if list, ok := result.(traits.Lister); ok {
			cost += length(list) * (common.SelectAndIdentCost + common.MapCreateBaseCost)
		}
	case functionParseJSON:
		if len(args) > 0 {
			cost = uint64(math.Ceil(float64(sizeOf(args[0])) * common.StringTraversalCostFactor))
		}
		cost += structureCost(result)
	default:
		return nil
	}
	return &cost
}

func length(s traits.Sizer) uint64 {
	n, ok := s.Size().(types.Int)
	if !ok || n < 0 {
		return 0
	}
	return uint64(n)
}

func sizeOf(v ref.Val) uint64 {
	if s, ok := v.(traits.Sizer); ok {
		return length(s)
	}
	return 1
}

// structureCost is that of creating every map and list of v.
func structureCost(v ref.Val) uint64 {
	switch v := v.(type) {
	case traits.Mapper:
		cost := uint64(common.MapCreateBaseCost)
		for it := v.Iterator(); it.HasNext() == types.True; {
			cost += structureCost(v.Get(it.Next()))
		}
		return cost
	case traits.Lister:
		cost := uint64(common.ListCreateBaseCost)
		for it := v.Iterator(); it.HasNext() == types.True; {
			cost += structureCost(it.Next())
		}
		return cost
	case nil:
		return 0
	}
	return common.ConstCost
}
