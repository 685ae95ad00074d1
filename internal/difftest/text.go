package difftest

import (
	"strings"

	"sigs.k8s.io/yaml"
)

// YAML writes the fleet's objects out, one document each.
func (f *Fleet) YAML() string {
	var b strings.Builder
	write(&b, "cluster set", f.Sets)
	write(&b, "binding", f.Bindings)
	write(&b, "cluster", f.Clusters)
	write(&b, "score", f.Scores)
	return b.String()
}

func write[T any](b *strings.Builder, kind string, objects []T) {
	for _, o := range objects {
		b.WriteString("--- # " + kind + "\n" + YAML(o))
	}
}

// YAML writes one object out, or says why it cannot.
func YAML(object any) string {
	text, err := yaml.Marshal(object)
	if err != nil {
		return err.Error() + "\n"
	}
	return string(text)
}
