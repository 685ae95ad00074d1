package capacity

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Amounts are of resources by name, in whole units; of CPU, in thousandths
// of a core. Whole numbers add up exactly.
type Amounts map[corev1.ResourceName]int64

func amountsOf(list corev1.ResourceList) Amounts {
	a := make(Amounts, len(list))
	for name, quantity := range list {
		if name == corev1.ResourceCPU {
			a[name] = quantity.MilliValue()
		} else {
			a[name] = quantity.Value()
		}
	}
	return a
}

func (a Amounts) add(b Amounts) {
	for name, amount := range b {
		a[name] += amount
	}
}

// atLeast raises what is less than in b.
func (a Amounts) atLeast(b Amounts) {
	for name, amount := range b {
		a[name] = max(a[name], amount)
	}
}

// less returns what is left of a without b, of each resource of a, never
// less than nothing.
func (a Amounts) less(b Amounts) Amounts {
	left := maps.Clone(a)
	for name := range left {
		left[name] = max(left[name]-b[name], 0)
	}
	return left
}

// value is the amount in the unit that samples have: cores, or whole units.
func value(name corev1.ResourceName, amount int64) float64 {
	if name == corev1.ResourceCPU {
		return float64(amount) / 1000
	}
	return float64(amount)
}

// unit is for people.
func unit(name corev1.ResourceName) string {
	switch {
	case name == corev1.ResourceCPU:
		return "cores"
	case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
		return "bytes"
	}
	return ""
}
