package app

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/scorer/internal/engine"
)

func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/scorer.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func blocks(text, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// TestManualManifests compiles every Scorer that the manual shows.
func TestManualManifests(t *testing.T) {
	t.Parallel()
	compiler, err := score.NewCompiler()
	if err != nil {
		t.Fatal(err)
	}
	manifests := blocks(manual(t), "yaml")
	if len(manifests) != 2 {
		t.Fatalf("the manual has %d manifests, want 2", len(manifests))
	}
	for _, manifest := range manifests {
		data, err := yaml.YAMLToJSONStrict([]byte(manifest))
		if err != nil {
			t.Fatal(err)
		}
		var s schemas.Scorer
		if err := schemas.Unmarshal(data, &s); err != nil {
			t.Fatalf("%s\n%v", manifest, err)
		}
		if _, err := compiler.Compile(&s); err != nil {
			t.Errorf("%s\n%v", manifest, err)
		}
	}
}

var (
	now    = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	sample = regexp.MustCompile(`(\w+)(?:\{(\w+)="(\w+)"\})?=(\d+)`)
	row    = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (-?\\d*) ?\\| (\\w+) \\|$")
)

// TestManualExamples evaluates every expression of the manual's table on the
// manual's cluster.
func TestManualExamples(t *testing.T) {
	t.Parallel()
	compiler, err := score.NewCompiler()
	if err != nil {
		t.Fatal(err)
	}
	cluster := manualCluster(t)
	rows := row.FindAllStringSubmatch(manual(t), -1)
	if len(rows) < 15 {
		t.Fatalf("only %d examples were found", len(rows))
	}
	for _, r := range rows {
		s := &schemas.Scorer{Metadata: schemas.Metadata{Name: "s"}, Spec: schemas.ScorerSpec{CEL: r[1]}}
		program, err := compiler.Compile(s)
		if err != nil {
			t.Errorf("%s: %v", r[1], err)
			continue
		}
		result := program.Evaluate(cluster, now)
		got := ""
		if v := result.Items[0].Value; v != nil {
			got = fmt.Sprint(*v)
		}
		if got != r[2] || result.Items[0].Reason != r[3] {
			t.Errorf("%s = %q %s (%s), the manual says %q %s", r[1], got, result.Items[0].Reason, result.Items[0].Message, r[2], r[3])
		}
	}
}

func manualCluster(t *testing.T) *score.Cluster {
	t.Helper()
	c := &score.Cluster{Labels: map[string]string{"region": "eu"}, Claims: map[string]string{"nodes": "12"}}
	lines := strings.Split(strings.TrimSpace(blocks(manual(t), "samples")[0]), "\n")
	slices.Sort(lines)
	for _, line := range lines {
		name, text, _ := strings.Cut(line, ": ")
		var samples []schemas.Sample
		for _, m := range sample.FindAllStringSubmatch(text, -1) {
			value, err := strconv.ParseFloat(m[4], 64)
			if err != nil {
				t.Fatal(err)
			}
			s := schemas.Sample{Name: m[1], Value: value}
			if m[2] != "" {
				s.Labels = map[string]string{m[2]: m[3]}
			}
			samples = append(samples, s)
		}
		c.Sources = append(c.Sources, &score.Source{Name: name, ObservedAt: now, Samples: series.NewSamples(samples)})
	}
	return c
}

// TestManualMetrics: the manual names every metric that there is, and no
// other.
func TestManualMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	if _, err := engine.New(decider.Config{Metrics: registry, Tracer: noop.NewTracerProvider()}); err != nil {
		t.Fatal(err)
	}
	described := make(chan *prometheus.Desc)
	go func() {
		defer close(described)
		registry.Describe(described)
	}()
	names := func(text string) map[string]bool {
		found := map[string]bool{}
		for _, name := range regexp.MustCompile(`spokewire_scorer_\w+`).FindAllString(text, -1) {
			found[name] = true
		}
		return found
	}
	have := map[string]bool{}
	for d := range described {
		maps.Copy(have, names(d.String()))
	}
	if told := names(manual(t)); !maps.Equal(told, have) {
		t.Errorf("the manual tells of %v, there are %v", slices.Sorted(maps.Keys(told)), slices.Sorted(maps.Keys(have)))
	}
}
