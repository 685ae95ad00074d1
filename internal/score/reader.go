package score

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/internal/window"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// MaxInputs bounds the inputs that an item of a score shows.
const MaxInputs = 32

// maxListed bounds the series that an Ambiguous message shows.
const maxListed = 4

// reader is what the functions of one evaluation read from. It takes note of
// everything that they read.
type reader struct {
	cluster  *Cluster
	now      time.Time
	validFor time.Duration
	// by, if set, is a label that samples must have with the value, unless
	// the expression asks for one of its values itself.
	by, value string

	reads []read
	// oldest is the oldest time of a sample that was read, stale the time at
	// which the first fresh sample that was looked at ceases to be fresh.
	oldest, stale time.Time
	// touched counts samples and points since their cost was last taken.
	touched uint64
	// points is room for those of one series.
	points []window.Point
}

// read is one value that was read: a sample, or what came of a window, where
// source is set, else a label or claim.
type read struct {
	kind      string
	source    *Source
	series    series.Series
	value     float64
	key, text string
	span      *span // of a window
}

// labels are those that a call asks for.
func (r *reader) labels(args arguments) map[string]string {
	labels := args.labels()
	if _, own := labels[r.by]; own || r.by == "" {
		return labels
	}
	if labels == nil {
		labels = map[string]string{}
	}
	labels[r.by] = r.value
	return labels
}

// fresh calls yield with every fresh sample that matches.
func (r *reader) fresh(name string, labels map[string]string, yield func(*Source, series.Sample)) {
	for _, source := range r.cluster.Sources {
		expiry := source.ObservedAt.Add(r.validFor)
		if !r.now.Before(expiry) {
			continue
		}
		named := series.Named(source.Samples, name)
		r.touched += uint64(len(named))
		for _, sample := range named {
			if matches(sample.Series, labels) {
				r.stale = earlier(r.stale, expiry)
				yield(source, sample)
			}
		}
	}
}

// matches reports whether a series has the labels. One that is wanted empty
// may be missing, as Prometheus has it.
func matches(s series.Series, labels map[string]string) bool {
	if s.Matches(labels) {
		return true
	}
	for name, want := range labels {
		if has, _ := s.Label(name); has != want {
			return false
		}
	}
	return true
}

// one returns the only fresh sample that matches.
func (r *reader) one(name string, labels map[string]string) (float64, *problem) {
	var source *Source
	var sample series.Sample
	count := 0
	r.fresh(name, labels, func(src *Source, s series.Sample) {
		source, sample = src, s
		count++
	})
	switch count {
	case 0:
		return 0, r.missing(name, labels)
	case 1:
		r.note(source, sample)
		return sample.Value, nil
	}
	return 0, r.ambiguous("metric", name, labels, count)
}

// all returns the values of every fresh sample that matches.
func (r *reader) all(name string, labels map[string]string) []float64 {
	var values []float64
	r.fresh(name, labels, func(src *Source, s series.Sample) {
		r.note(src, s)
		values = append(values, s.Value)
	})
	return values
}

func (r *reader) note(source *Source, s series.Sample) {
	r.oldest = earlier(r.oldest, source.ObservedAt)
	if len(r.reads) < MaxInputs {
		r.reads = append(r.reads, read{kind: "metric", source: source, series: s.Series, value: s.Value})
	}
}

func (r *reader) noteText(kind, key, text string) {
	if len(r.reads) < MaxInputs {
		r.reads = append(r.reads, read{kind: kind, key: key, text: text})
	}
}

// missing says why there is no fresh sample: there is none at all, or it is
// stale.
func (r *reader) missing(name string, labels map[string]string) *problem {
	var last time.Time
	for _, source := range r.cluster.Sources {
		for _, sample := range series.Named(source.Samples, name) {
			if matches(sample.Series, labels) && source.ObservedAt.After(last) {
				last = source.ObservedAt
			}
		}
	}
	if last.IsZero() {
		return &problem{schemas.ScoreNoSample, shorten(fmt.Sprintf("no source has a sample of %s", query(name, labels)))}
	}
	return &problem{schemas.ScoreNoSample, shorten(fmt.Sprintf("the last sample of %s is of %s, which is longer ago than validFor %s",
		query(name, labels), last.UTC().Format(time.RFC3339), r.validFor))}
}

func (r *reader) ambiguous(function, name string, labels map[string]string, count int) *problem {
	var listed []string
	r.fresh(name, labels, func(src *Source, s series.Sample) {
		if len(listed) < maxListed {
			listed = append(listed, s.Series.String()+" of source "+src.Name)
		}
	})
	if count > maxListed {
		listed = append(listed, "…")
	}
	return &problem{schemas.ScoreAmbiguous, shorten(fmt.Sprintf(
		"%s(%q) wants one sample, there are %d: %s; name a label, or use sum, avg, min or max", function, name, count, strings.Join(listed, ", ")))}
}

func query(name string, labels map[string]string) string {
	s := schemas.Sample{Name: name, Labels: labels}
	return s.Series()
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// inputs shows what was read, each value once.
func inputs(reads []read) []schemas.ScoreInput {
	out := make([]schemas.ScoreInput, 0, len(reads))
	for _, r := range reads {
		in := schemas.ScoreInput{Kind: r.kind, Name: r.key, Value: r.text}
		if r.source != nil {
			observed := r.source.ObservedAt
			in.Name, in.Value = r.series.String(), formatNumber(r.value)
			in.Subject, in.Sequence, in.ObservedAt = r.source.Subject, r.source.Sequence, &observed
		}
		if r.span != nil {
			last := r.span.last.At
			in.Name = fmt.Sprintf("%s(%s[%s])", r.key, r.series, r.span.length)
			in.Sequence, in.ObservedAt = r.span.last.Sequence, &last
			in.First, in.Points = r.span.first.Sequence, r.span.points
		}
		if !slices.ContainsFunc(out, func(o schemas.ScoreInput) bool {
			return o.Kind == in.Kind && o.Name == in.Name && o.Subject == in.Subject
		}) {
			out = append(out, in)
		}
	}
	return out
}

// readerType is the CEL type of the hidden first argument of every function
// that reads.
var readerType = types.NewOpaqueType("cluster")

// The methods below make a reader a CEL value. Expressions cannot name it.

// ConvertToNative refuses.
func (r *reader) ConvertToNative(reflect.Type) (any, error) {
	return nil, fmt.Errorf("a cluster is not a value")
}

// ConvertToType refuses.
func (r *reader) ConvertToType(ref.Type) ref.Val { return types.NewErr("a cluster is not a value") }

// Equal compares identities.
func (r *reader) Equal(other ref.Val) ref.Val { return types.Bool(ref.Val(r) == other) }

// Type returns the opaque type.
func (r *reader) Type() ref.Type { return readerType }

// Value returns the reader.
func (r *reader) Value() any { return r }
