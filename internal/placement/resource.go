package placement

import (
	"math"

	"github.com/spokewire/spokewire/pkg/schemas"
)

type resourceKind uint8

const (
	amountCPU resourceKind = iota
	amountMemory
	resourceKinds
)

const (
	builtInCPU    = "ResourceAllocatableCPU"
	builtInMemory = "ResourceAllocatableMemory"
)

// resourceNames are those of a cluster's allocatable, by resourceKind.
var resourceNames = [resourceKinds]string{"cpu", "memory"}

// bounds is the least and the most that any eligible cluster has of a
// resource; NaN where none says.
type bounds struct{ least, most float64 }

var noBounds = bounds{math.NaN(), math.NaN()}

func (b bounds) with(value float64) bounds {
	switch {
	case math.IsNaN(value):
		return b
	case math.IsNaN(b.least):
		return bounds{value, value}
	}
	return bounds{min(b.least, value), max(b.most, value)}
}

func (b bounds) same(o bounds) bool {
	return b == o || math.IsNaN(b.least) && math.IsNaN(o.least)
}

// resourceScore places the value between the bounds, worst to best. It is 0
// for a cluster that does not say what it has, and the best for all where all
// have the same.
func resourceScore(value float64, b bounds) int64 {
	switch {
	case math.IsNaN(value):
		return 0
	case b.most == b.least:
		return schemas.MaxScore
	}
	ratio := (value - b.least) / (b.most - b.least)
	return int64((ratio - 0.5) * 2.0 * 100.0)
}
