package app

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/sampletext"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/internal/window"
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
	if len(manifests) != 3 {
		t.Fatalf("the manual has %d manifests, want 3", len(manifests))
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
	now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (-?\\d*) ?\\| (\\w+) \\|$")
)

// TestManualExamples evaluates every expression of the manual's tables on the
// cluster that stands before it.
func TestManualExamples(t *testing.T) {
	t.Parallel()
	now, past, found := strings.Cut(manual(t), "## Looking back")
	if !found {
		t.Fatal("the manual does not tell of looking back")
	}
	checkExamples(t, now, 15, func(*score.Program) *score.Cluster { return manualCluster(t) })
	checkExamples(t, past, 9, func(p *score.Program) *score.Cluster { return manualHistory(t, p) })
}

func checkExamples(t *testing.T, text string, atLeast int, cluster func(*score.Program) *score.Cluster) {
	t.Helper()
	compiler, err := score.NewCompiler()
	if err != nil {
		t.Fatal(err)
	}
	rows := row.FindAllStringSubmatch(text, -1)
	if len(rows) < atLeast {
		t.Fatalf("only %d examples were found", len(rows))
	}
	for _, r := range rows {
		s := &schemas.Scorer{Metadata: schemas.Metadata{Name: "s"}, Spec: schemas.ScorerSpec{CEL: r[1]}}
		program, err := compiler.Compile(s)
		if err != nil {
			t.Errorf("%s: %v", r[1], err)
			continue
		}
		result := program.Evaluate(cluster(program), now)
		if got := shown(&result.Items[0]); got != r[2] || result.Items[0].Reason != r[3] {
			t.Errorf("%s = %q %s (%s), the manual says %q %s", r[1], got, result.Items[0].Reason, result.Items[0].Message, r[2], r[3])
		}
	}
}

func shown(it *score.Item) string {
	if it.Value == nil {
		return ""
	}
	return fmt.Sprint(*it.Value)
}

// TestManualItems evaluates the table of items by a label.
func TestManualItems(t *testing.T) {
	t.Parallel()
	compiler, err := score.NewCompiler()
	if err != nil {
		t.Fatal(err)
	}
	pools := &score.Source{Name: "node", ObservedAt: now, Samples: series.NewSamples(samplesOf(t, blocks(manual(t), "pools")[0]))}
	_, table, _ := strings.Cut(manual(t), "| expression, by pool | items |")
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (item[/ ].*) \\|$").FindAllStringSubmatch(table, -1)
	if len(rows) != 3 {
		t.Fatalf("%d examples were found, want 3", len(rows))
	}
	for _, r := range rows {
		program, err := compiler.Compile(&schemas.Scorer{Metadata: schemas.Metadata{Name: "item"}, Spec: schemas.ScorerSpec{CEL: r[1], By: "pool"}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range program.Evaluate(&score.Cluster{Sources: []*score.Source{pools}}, now).Items {
			got = append(got, it.Name+" "+cmp.Or(shown(&it), it.Reason))
		}
		if text := strings.Join(got, ", "); text != r[2] {
			t.Errorf("%s gives %s, the manual says %s", r[1], text, r[2])
		}
	}
}

// manualHistory is the source whose snapshots the manual shows, a line each.
func manualHistory(t *testing.T, p *score.Program) *score.Cluster {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(blocks(manual(t), "history")[0]), "\n")
	s := &score.Source{Name: "node", Past: window.New(window.Select(p.Asks()), time.Time{})}
	for i, line := range lines {
		s.Sequence, s.ObservedAt = uint64(i+1), now.Add(time.Duration(i+1-len(lines))*20*time.Second)
		s.Samples = series.NewSamples(samplesOf(t, line))
		s.Past.Append(window.Event{Sequence: s.Sequence, ObservedAt: s.ObservedAt, Samples: s.Samples})
	}
	return &score.Cluster{Sources: []*score.Source{s}}
}

func manualCluster(t *testing.T) *score.Cluster {
	t.Helper()
	c := &score.Cluster{Labels: map[string]string{"region": "eu"}, Claims: map[string]string{"nodes": "12"}}
	lines := strings.Split(strings.TrimSpace(blocks(manual(t), "samples")[0]), "\n")
	slices.Sort(lines)
	for _, line := range lines {
		name, text, _ := strings.Cut(line, ": ")
		samples := samplesOf(t, text)
		c.Sources = append(c.Sources, &score.Source{Name: name, ObservedAt: now, Samples: series.NewSamples(samples)})
	}
	return c
}

// samplesOf reads the samples of a line.
func samplesOf(t *testing.T, text string) []schemas.Sample {
	t.Helper()
	var samples []schemas.Sample
	for _, field := range strings.Fields(text) {
		s, err := sampletext.ParseSeries(field)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, s)
	}
	return samples
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
