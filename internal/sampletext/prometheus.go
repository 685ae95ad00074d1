package sampletext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// MaxPage bounds a page, in bytes.
const MaxPage = 32 << 20

// maxSeries is how long a series can be at most that the bus takes, in
// bytes: four for a character.
const maxSeries = schemas.MaxNameLength + schemas.MaxLabels*(4*schemas.MaxLabelNameLength+4*schemas.MaxLabelLength+8)

// maxErrorText bounds what an error quotes of the page.
const maxErrorText = 300

// ParsePrometheus reads a page in Prometheus text format, of MaxPage bytes at
// most, in time that grows with its length. Histograms and summaries become
// one sample a series, as Prometheus itself stores them. Timestamps are
// dropped: how fresh a sample is, the bus says. Samples are sorted by series.
// Every error in the page names its line.
func ParsePrometheus(r io.Reader) ([]schemas.Sample, error) {
	text, err := readPage(r)
	if err != nil {
		return nil, err
	}
	p := page{lines: lines{rest: text}, parser: textparse.NewPromParser(text, labels.NewSymbolTable(), false), limit: schemas.MaxSamples}
	samples := []schemas.Sample{}
	err = p.each(func(s Timed) { samples = append(samples, s.Sample) })
	if err != nil {
		return nil, err
	}
	slices.SortFunc(samples, func(a, b schemas.Sample) int { return strings.Compare(a.Series(), b.Series()) })
	return samples, nil
}

// readPage reads what the parser takes.
func readPage(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxPage+1))
	switch at := bytes.IndexByte(text, 0); {
	case err != nil:
		return nil, err
	case len(text) > MaxPage:
		return nil, fmt.Errorf("is larger than %d MiB", MaxPage>>20)
	case at >= 0: // the parser takes it for the end
		return nil, fmt.Errorf("line %d: holds a NUL byte", 1+bytes.Count(text[:at], []byte("\n")))
	}
	return text, nil
}

// page is one that is being read.
type page struct {
	lines  lines
	parser textparse.Parser
	labels labels.Labels
	count  int
	limit  int // of samples
}

// each calls yield with every sample.
func (p *page) each(yield func(Timed)) error {
	for {
		sample, err := p.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("line %d: %.*s", p.lines.number, maxErrorText, err)
		}
		yield(sample)
	}
}

// next returns the next sample, or io.EOF.
func (p *page) next() (Timed, error) {
	for {
		entry, err := p.parser.Next()
		if errors.Is(err, io.EOF) {
			return Timed{}, err
		}
		p.lines.next()
		if err != nil {
			return Timed{}, err
		}
		if entry == textparse.EntrySeries {
			return p.sample()
		}
	}
}

func (p *page) sample() (Timed, error) {
	series, at, value := p.parser.Series()
	defer p.lines.skip(bytes.Count(series, []byte("\n")))
	if len(series) > maxSeries {
		return Timed{}, fmt.Errorf("the series is %d bytes long, at most %d labels of %d characters are taken", len(series), schemas.MaxLabels, schemas.MaxLabelLength)
	}
	if p.count++; p.count > p.limit {
		return Timed{}, fmt.Errorf("is one more than the %d samples that an event takes: use several sources", p.limit)
	}
	p.parser.Labels(&p.labels)
	s, err := newSample(p.labels)
	if err != nil {
		return Timed{}, err
	}
	s.Value = value
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return Timed{}, fmt.Errorf("series %s is %v: an event carries finite numbers only, so leave it out", s.Series(), value)
	}
	timed := Timed{Sample: s}
	if at != nil {
		timed.At = time.UnixMilli(*at).UTC()
	}
	return timed, nil
}

func newSample(all labels.Labels) (schemas.Sample, error) {
	var s schemas.Sample
	if n := all.Len() - 1; n > schemas.MaxLabels {
		return s, fmt.Errorf("series %s has %d labels, at most %d are taken", all.Get(model.MetricNameLabel), n, schemas.MaxLabels)
	}
	twice := ""
	all.Range(func(l labels.Label) {
		if l.Name == model.MetricNameLabel && s.Name == "" {
			s.Name = l.Value
			return
		}
		if s.Labels == nil {
			s.Labels = map[string]string{}
		}
		if _, known := s.Labels[l.Name]; known {
			twice = l.Name
		}
		s.Labels[l.Name] = l.Value
	})
	if twice != "" {
		return s, fmt.Errorf("series %s repeats label %s", s.Name, twice)
	}
	return s, nil
}

// lines walks through a page beside the parser, which does not say where it
// is: each of its entries is a line, and blank lines are none.
type lines struct {
	rest   []byte
	number int // of the current line, from 1
}

func (l *lines) next() {
	for blank := true; blank && len(l.rest) > 0; {
		var line []byte
		line, l.rest, _ = bytes.Cut(l.rest, []byte("\n"))
		l.number++
		blank = len(bytes.Trim(line, " \t")) == 0
	}
}

// skip passes over the further lines of a label's value.
func (l *lines) skip(n int) {
	for range n {
		_, l.rest, _ = bytes.Cut(l.rest, []byte("\n"))
		l.number++
	}
}
