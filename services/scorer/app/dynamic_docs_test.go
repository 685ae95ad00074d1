package app

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/scorer/internal/asker"
)

func dynamicManual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/dynamic-scoring.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDynamicManifests: every manifest that the manual shows is taken over the
// bus.
func TestDynamicManifests(t *testing.T) {
	t.Parallel()
	manifests := blocks(dynamicManual(t), "yaml")
	if len(manifests) < 2 {
		t.Fatalf("the manual has %d manifests", len(manifests))
	}
	for _, manifest := range manifests {
		data, err := yaml.YAMLToJSONStrict([]byte(manifest))
		if err != nil {
			t.Fatal(err)
		}
		var payload schemas.Payload = new(schemas.DynamicScorerRequest)
		if regexp.MustCompile(`(?m)^kind: DynamicScoringConfig$`).MatchString(manifest) {
			payload = new(schemas.DynamicScoringConfigRequest)
		}
		if err := schemas.Unmarshal(data, payload); err != nil {
			t.Errorf("%s\n%v", manifest, err)
		}
	}
}

// TestDynamicMetrics: the manual names every metric that there is, and no
// other.
func TestDynamicMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	if _, err := asker.New(decider.Config{Metrics: registry, Tracer: noop.NewTracerProvider()}, asker.Options{}); err != nil {
		t.Fatal(err)
	}
	described := make(chan *prometheus.Desc)
	go func() {
		defer close(described)
		registry.Describe(described)
	}()
	have, told := map[string]bool{}, map[string]bool{}
	for d := range described {
		have[regexp.MustCompile(`fqName: "(\w+)"`).FindStringSubmatch(d.String())[1]] = true
	}
	for _, name := range regexp.MustCompile(`\b(?:spokewire_dynamic_scoring_\w+|dynamic_scor(?:e|ing_\w+))\b`).FindAllString(dynamicManual(t), -1) {
		told[name] = true
	}
	if !maps.Equal(told, have) {
		t.Errorf("the manual tells of %v, there are %v", slices.Sorted(maps.Keys(told)), slices.Sorted(maps.Keys(have)))
	}
}

// TestDynamicReasons: the manual explains every reason that the code has.
func TestDynamicReasons(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../internal/dynamic/failure.go")
	if err != nil {
		t.Fatal(err)
	}
	manual := dynamicManual(t)
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+) += "(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		if !regexp.MustCompile("`" + m[2] + "`").MatchString(manual) {
			t.Errorf("the manual does not explain %s", m[2])
		}
	}
}
