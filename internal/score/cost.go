package score

import "github.com/google/cel-go/common/types/ref"

// perTouched is how many samples and values of windows cost one unit.
const perTouched = 10

// prices adds what a function reads to what a call costs.
type prices struct{}

// CallCost implements interpreter.ActualCostEstimator. It is called after
// each call.
func (prices) CallCost(_, _ string, args []ref.Val, _ ref.Val) *uint64 {
	if len(args) == 0 {
		return nil
	}
	r, reads := args[0].(*reader)
	if !reads {
		return nil
	}
	touched := r.touched
	r.touched = 0
	if touched < perTouched {
		return nil
	}
	cost := 1 + touched/perTouched
	return &cost
}
