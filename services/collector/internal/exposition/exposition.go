// Package exposition reads what a Prometheus endpoint shows, in Prometheus
// text format or in OpenMetrics 1.0.
//
// Both are parsed by Prometheus' own model/textparse rather than by expfmt
// of prometheus/common: expfmt (v0.73) reads OpenMetrics through a general
// grammar engine that needs 700 ms and 850 MB for 1,000 series, and more
// than a minute for one label of 4 KB, which a hostile target could use to
// stop a collector. textparse is linear, and yields series as Prometheus
// stores them: histograms and summaries already as _bucket, _sum, _count and
// quantiles.
package exposition

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/spokewire/spokewire/internal/sample"
)

// Format is the syntax of an exposition.
type Format string

// Formats.
const (
	Text        Format = "text"
	OpenMetrics Format = "openmetrics"
)

// Accept is the value of an Accept header that asks for what Read reads.
const Accept = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"

// FormatOf tells the format from a Content-Type. Without one it is Text.
func FormatOf(contentType string) (Format, error) {
	if contentType == "" {
		return Text, nil
	}
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return "", fmt.Errorf("the Content-Type %.100q cannot be read: %w", contentType, err)
	}
	version := params["version"]
	switch {
	case media == "text/plain" && (version == "" || version == "0.0.4"):
		return Text, nil
	case media == "application/openmetrics-text" && (version == "" || version == "0.0.1" || version == "1.0.0"):
		return OpenMetrics, nil
	}
	return "", fmt.Errorf("the Content-Type is %.100q, want text/plain (version 0.0.4) or application/openmetrics-text (0.0.1, 1.0.0); set format to read it all the same", contentType)
}

// SyntaxError says where the reading stopped, and why.
type SyntaxError struct {
	Series int // how many series came before
	Err    error
}

// maxErrorText bounds what a SyntaxError quotes of a target's text.
const maxErrorText = 300

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not an exposition, after %d series: %.*s", e.Series, maxErrorText, e.Err)
}

// Unwrap returns what the parser said.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Sink takes in series. sample.Selection is one.
type Sink interface {
	Wants(name []byte) bool
	Add(labels sample.Labels, value float64, unit string)
}

// Read hands every series of body to into. An exposition with an error
// anywhere is refused as a whole, with a *SyntaxError: the snapshot would
// lack its other series, which says that they are gone. Timestamps and
// exemplars are not read.
func Read(body []byte, format Format, into Sink) error {
	if at := bytes.IndexByte(body, 0); at >= 0 {
		// The parser takes it for the end.
		return &SyntaxError{Err: fmt.Errorf("byte %d is NUL", at)}
	}
	r := reader{parser: newParser(body, format), into: into}
	for {
		entry, err := r.parser.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &SyntaxError{Series: r.series, Err: err}
		case entry == textparse.EntryUnit:
			family, unit := r.parser.Unit()
			r.family, r.unit = string(family), string(unit)
		case entry == textparse.EntrySeries:
			r.series++
			r.add()
		}
	}
}

func newParser(body []byte, format Format) textparse.Parser {
	if format == OpenMetrics {
		return textparse.NewOpenMetricsParser(body, labels.NewSymbolTable())
	}
	return textparse.NewPromParser(body, labels.NewSymbolTable(), false)
}

type reader struct {
	parser textparse.Parser
	into   Sink
	labels labels.Labels
	series int
	// unit is that of family, the last one that had any.
	family, unit string
}

func (r *reader) add() {
	series, _, value := r.parser.Series()
	name, _, _ := bytes.Cut(series, []byte("{"))
	quoted := len(name) == 0 // {"name",label="value"}
	if !quoted && !r.into.Wants(name) {
		return
	}
	r.parser.Labels(&r.labels)
	if quoted {
		name = []byte(r.labels.Get(model.MetricNameLabel))
		if !r.into.Wants(name) {
			return
		}
	}
	r.into.Add(sample.Labels{Len: r.labels.Len() - 1, All: r.each}, value, r.unitOf(string(name)))
}

// each yields the labels without the name.
func (r *reader) each(yield func(name, value string) bool) {
	stopped := false
	r.labels.Range(func(l labels.Label) {
		if !stopped && l.Name != model.MetricNameLabel {
			stopped = !yield(l.Name, l.Value)
		}
	})
}

// unitOf returns the unit of the series, which that of its family is unless
// the series counts something.
func (r *reader) unitOf(series string) string {
	switch rest, of := strings.CutPrefix(series, r.family); {
	case r.family == "" || !of:
		return ""
	case rest == "" || rest == "_total" || rest == "_sum":
		return r.unit
	}
	return ""
}
