package dynamic

import (
	"regexp"
	"strings"
)

// Bounds of names.
const (
	maxObjectName = 253 // of an object on the hub
	maxItemName   = 512
	// fallbackName is that of a score of whose name nothing is left.
	fallbackName = "score"
)

var (
	notInName = regexp.MustCompile(`[^a-z0-9.-]`)
	dashes    = regexp.MustCompile(`-+`)
)

// ObjectName makes the name of a score one that an object on the hub can
// have, and every part of it between dots a label of DNS: lower case, with
// '-' for each other character.
func ObjectName(score string) string {
	name := dashes.ReplaceAllString(notInName.ReplaceAllString(strings.ToLower(score), "-"), "-")
	var parts []string
	for part := range strings.SplitSeq(name, ".") {
		if part = strings.Trim(part, "-"); part != "" {
			parts = append(parts, part)
		}
	}
	name = strings.Join(parts, ".")
	if len(name) > maxObjectName {
		name = strings.TrimRight(name[:maxObjectName], "-.")
	}
	if name == "" {
		return fallbackName
	}
	return name
}

// placeholders are the labels of a result that may stand in a
// scoreDimensionFormat, beside cluster and scoreName.
var placeholders = []string{"node", "device", "namespace", "app", "pod", "container", "meta"}

// Dimensions are the values of a result's placeholders, in the order of
// upstream's metric: cluster, node, device, namespace, app, pod, container,
// meta, score name. What the result lacks is empty.
func Dimensions(cluster, scoreName string, metric map[string]string) []string {
	out := make([]string, 0, len(placeholders)+2)
	out = append(out, cluster)
	for _, label := range placeholders {
		out = append(out, metric[label])
	}
	return append(out, scoreName)
}

// itemName renders format for one result; "" where nothing is left. Control
// characters become spaces.
func itemName(format, cluster, scoreName string, metric map[string]string) string {
	pairs := []string{"${cluster}", cluster, "${scoreName}", scoreName}
	for _, label := range placeholders {
		pairs = append(pairs, "${"+label+"}", metric[label])
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.NewReplacer(pairs...).Replace(format))
}
