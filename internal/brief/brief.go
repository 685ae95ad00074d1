// Package brief writes lists for people: short, whatever is in them.
package brief

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Most is how many items of a list are named.
const Most = 4

// List joins items and counts those that it leaves out.
func List(items []string) string { return Of(len(items), func(i int) string { return items[i] }) }

// Of is List for n items, of which it asks for those that it names alone.
func Of(n int, item func(i int) string) string {
	named := make([]string, min(n, Most))
	for i := range named {
		named[i] = item(i)
	}
	text := strings.Join(named, " ")
	if n > Most {
		text += fmt.Sprintf(" +%d", n-Most)
	}
	return text
}

// Counts are the names of m, sorted, each with its number.
func Counts(m map[string]int) []string {
	items := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		items = append(items, key+" "+strconv.Itoa(m[key]))
	}
	return items
}
