package inquiry

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Metrics is what hypothetical metrics are scored with: the scorers that the
// Placement counts, and what the sources of those clusters say now.
type Metrics struct {
	compiler *score.Compiler
	programs map[string]*score.Program
	sources  map[string]map[string]*source // by cluster, then by name
}

// source is the last snapshot of one source.
type source struct {
	at      events.Received
	samples []schemas.Sample
}

// supposedSource says what is only supposed.
const supposedSource = "what-if"

// NewMetrics returns a Metrics without scorers and snapshots.
func NewMetrics(c *score.Compiler) *Metrics {
	return &Metrics{compiler: c, programs: map[string]*score.Program{}, sources: map[string]map[string]*source{}}
}

// Take takes in a scorer or a snapshot.
func (m *Metrics) Take(r *events.Received) {
	switch p := r.Payload.(type) {
	case *schemas.Scorer:
		m.programs[p.Metadata.Name], _ = m.compiler.Compile(p) // a broken item scores nothing, and says why
	case *schemas.Metrics:
		of := m.sources[r.Subject.Cluster]
		if of == nil {
			of = map[string]*source{}
			m.sources[r.Subject.Cluster] = of
		}
		of[r.Subject.Name] = &source{at: *r, samples: p.Samples}
	}
}

// Score takes hypothetical metrics in, and returns the scores that follow.
// Those of scorers that look back stay as they are. The error is a
// *schemas.FieldError.
func (s *Scene) Score(m *Metrics, list []schemas.WhatIfMetric) ([]schemas.WhatIfScore, error) {
	touched := map[string]bool{}
	for i := range list {
		field := fmt.Sprintf("metrics[%d].", i)
		if err := s.mustHave(field+"cluster", list[i].Cluster); err != nil {
			return nil, err
		}
		if err := m.mustRead(field+"name", list[i].Name); err != nil {
			return nil, err
		}
		if err := m.suppose(field+"labels", &list[i], s.Now); err != nil {
			return nil, err
		}
		touched[list[i].Cluster] = true
	}
	var out []schemas.WhatIfScore
	for _, cluster := range slices.Sorted(maps.Keys(touched)) {
		for _, scorer := range slices.Sorted(maps.Keys(m.programs)) {
			if len(m.programs[scorer].Asks()) == 0 {
				out = append(out, s.evaluate(m, cluster, scorer)...)
			}
		}
	}
	return out, nil
}

func (s *Scene) evaluate(m *Metrics, cluster, scorer string) []schemas.WhatIfScore {
	result := m.programs[scorer].Evaluate(m.cluster(s.clusters[cluster]), s.Now)
	next := &schemas.Score{Cluster: cluster, Scorer: scorer, Items: result.Score()}
	if !result.ValidUntil.IsZero() {
		next.ValidUntil = &result.ValidUntil
	}
	s.setScore(next)
	out := make([]schemas.WhatIfScore, len(next.Items))
	for i, item := range next.Items {
		out[i] = schemas.WhatIfScore{Cluster: cluster, Scorer: scorer, Item: item.Name, Value: item.Value}
	}
	return out
}

// mustRead refuses a metric that no scorer of the Placement looks at: it
// would change nothing, and is more likely a slip. It refuses one, too, that
// a scorer reads that looks back: what is supposed has no past.
func (m *Metrics) mustRead(field, name string) error {
	var all []string
	read := false
	for _, scorer := range slices.Sorted(maps.Keys(m.programs)) {
		program := m.programs[scorer]
		names, dynamic := program.Metrics()
		reads := dynamic || slices.Contains(names, name)
		if reads && len(program.Asks()) > 0 {
			return wrong(field, "is %s, which Scorer %s reads, and that looks back in time: what is only supposed has no past, so suppose its score instead", name, scorer)
		}
		read = read || reads
		all = append(all, names...)
	}
	if read {
		return nil
	}
	if len(m.programs) == 0 {
		return wrong(field, "is %s, but the Placement counts no score of a Scorer: suppose scores instead", name)
	}
	slices.Sort(all)
	return wrong(field, "is %s, which no Scorer of the Placement reads: they read %s", name, strings.Join(slices.Compact(all), ", "))
}

// suppose puts a sample in the place of those of the same series. One
// without labels takes the place of the only series of its name.
func (m *Metrics) suppose(field string, w *schemas.WhatIfMetric, now time.Time) error {
	sample := schemas.Sample{Name: w.Name, Labels: w.Labels, Value: w.Value}
	if len(w.Labels) == 0 {
		only, err := m.only(field, w.Cluster, w.Name)
		if err != nil {
			return err
		}
		sample.Labels = only
	}
	of := m.sources[w.Cluster]
	if of == nil {
		of = map[string]*source{}
		m.sources[w.Cluster] = of
	}
	key := sample.Series()
	for name, src := range of {
		kept := slices.DeleteFunc(slices.Clone(src.samples), func(x schemas.Sample) bool { return x.Series() == key })
		of[name] = &source{at: src.at, samples: kept}
	}
	supposed := of[supposedSource]
	if supposed == nil {
		supposed = &source{}
		of[supposedSource] = supposed
	}
	supposed.at.ObservedAt = now
	supposed.samples = append(supposed.samples, sample)
	return nil
}

// only returns the labels of the one series of a name, none where there is
// no such series or one without labels.
func (m *Metrics) only(field, cluster, name string) (map[string]string, error) {
	found := map[string]map[string]string{}
	for _, src := range m.sources[cluster] {
		for _, x := range src.samples {
			if x.Name == name {
				found[x.Series()] = x.Labels
			}
		}
	}
	if _, bare := found[name]; bare || len(found) == 0 {
		return nil, nil
	}
	names := slices.Sorted(maps.Keys(found))
	if len(names) > 1 {
		return nil, wrong(field, "is missing: %s has %s; say which", cluster, strings.Join(names[:min(len(names), 4)], ", "))
	}
	return found[names[0]], nil
}

func (m *Metrics) cluster(c *schemas.Cluster) *score.Cluster {
	out := &score.Cluster{Labels: c.Labels, Claims: c.Claims}
	of := m.sources[c.Name]
	for _, name := range slices.Sorted(maps.Keys(of)) {
		src := of[name]
		out.Sources = append(out.Sources, &score.Source{
			Name: name, Subject: src.at.Message.Subject, Sequence: src.at.Message.Sequence,
			ObservedAt: src.at.ObservedAt, ReceivedAt: src.at.Message.ReceivedAt, Samples: series.NewSamples(src.samples),
		})
	}
	return out
}
