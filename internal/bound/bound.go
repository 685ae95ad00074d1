// Package bound checks numbers that people set against their bounds. Its
// errors name what is set, for instance a flag.
package bound

import (
	"cmp"
	"fmt"
)

// AtLeast is an error if v, which is set by name, is less than least, or no number.
func AtLeast[T cmp.Ordered](name string, v, least T) error {
	if v >= least {
		return nil
	}
	return fmt.Errorf("%s is %v, want at least %v", name, v, least)
}

// Within is an error unless v, which is set by name, is from least to most.
func Within[T cmp.Ordered](name string, v, least, most T) error {
	if v >= least && v <= most {
		return nil
	}
	return fmt.Errorf("%s is %v, want %v to %v", name, v, least, most)
}
