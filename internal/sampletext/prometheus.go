package sampletext

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// ParsePrometheus reads a page in Prometheus text format. Histograms and
// summaries become one sample a series, as Prometheus itself stores them.
// Timestamps are dropped: how fresh a sample is, the bus says. Samples are
// sorted by series. A value that is not finite is an error that names its
// series.
func ParsePrometheus(r io.Reader) ([]schemas.Sample, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	// A last line without its newline is as good as one with it.
	families, err := parser.TextToMetricFamilies(io.MultiReader(r, strings.NewReader("\n")))
	if err != nil {
		var syntax expfmt.ParseError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("line %d: %s", syntax.Line, syntax.Msg)
		}
		return nil, err
	}
	samples := []schemas.Sample{}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		vector, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, families[name])
		if err != nil {
			return nil, fmt.Errorf("metric %s: %w", name, err)
		}
		for _, s := range vector {
			sample, err := newSample(s)
			if err != nil {
				return nil, err
			}
			samples = append(samples, sample)
		}
	}
	slices.SortFunc(samples, func(a, b schemas.Sample) int { return strings.Compare(a.Series(), b.Series()) })
	return samples, nil
}

func newSample(from *model.Sample) (schemas.Sample, error) {
	s := schemas.Sample{Value: float64(from.Value)}
	for name, value := range from.Metric {
		if name == model.MetricNameLabel {
			s.Name = string(value)
			continue
		}
		if s.Labels == nil {
			s.Labels = map[string]string{}
		}
		s.Labels[string(name)] = string(value)
	}
	if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
		return s, fmt.Errorf("series %s is %v: an event carries finite numbers only, so leave it out", s.Series(), s.Value)
	}
	return s, nil
}
