package score

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/internal/window"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// minPoints is how many values a window wants at least, and they have to be
// half of its length apart: less says nothing of it.
const minPoints = 2

// pastReaders returns the functions that look back. Each window ends with the
// last event of its source, so what they give follows from the log alone.
func pastReaders() []function {
	window := takesPast()
	return []function{
		{"rate", window, cel.DoubleType, readRate, true, true},
		{"avg_over", window, cel.DoubleType, over("avg_over", avg), true, true},
		{"min_over", window, cel.DoubleType, over("min_over", slices.Min[[]float64]), true, true},
		{"max_over", window, cel.DoubleType, over("max_over", slices.Max[[]float64]), true, true},
		{"sum_over", window, cel.DoubleType, over("sum_over", sum), true, true},
		{"count_over", window, cel.IntType, readCountOver, true, true},
		{"ewma", takesPast(cel.DurationType), cel.DoubleType, readEWMA, true, true},
		{"percentile_over", append(takesPast(cel.DoubleType), takesPast(cel.IntType)...), cel.DoubleType, readPercentile, true, true},
	}
}

// takesPast are the argument lists of a metric, something more, and a window.
func takesPast(more ...*cel.Type) [][]*cel.Type {
	end := append(slices.Clone(more), cel.DurationType)
	return [][]*cel.Type{
		append([]*cel.Type{cel.StringType}, end...),
		append([]*cel.Type{cel.StringType, cel.MapType(cel.StringType, cel.StringType)}, end...),
	}
}

func (a arguments) length() time.Duration { return a.duration(len(a) - 1) }

func (a arguments) duration(i int) time.Duration { return a[i].(types.Duration).Duration }

// span is where the values of a window stand.
type span struct {
	first, last window.Point
	points      int
	length      time.Duration
}

// track is the past of one series.
type track struct {
	source *Source
	series series.Series
	points []window.Point
}

func (t *track) values() []float64 {
	values := make([]float64, len(t.points))
	for i, p := range t.points {
		values[i] = p.Value
	}
	return values
}

// covers is how long the values span.
func (t *track) covers() time.Duration {
	if len(t.points) == 0 {
		return 0
	}
	return t.points[len(t.points)-1].At.Sub(t.points[0].At)
}

// each calls yield with the past of every fresh series that matches; the
// points are good until it returns.
func (r *reader) each(args arguments, yield func(*track)) *problem {
	name, length := args.text(0), args.length()
	var p *problem
	r.fresh(name, r.labels(args), func(src *Source, s series.Sample) {
		if p == nil {
			p = unknownPast(src, name, length)
		}
		if p != nil {
			return
		}
		r.points = src.Past.Points(r.points[:0], s.Series, length)
		r.touched += uint64(len(r.points))
		yield(&track{source: src, series: s.Series, points: r.points})
	})
	return p
}

// unknownPast says why the past of a metric cannot be told, nil if it can.
func unknownPast(src *Source, name string, length time.Duration) *problem {
	switch {
	case src.Past == nil || !src.Past.Reaches(length):
		return &problem{schemas.ScoreNoHistory, shorten(fmt.Sprintf("the past of source %s is not known here", src.Name))}
	case src.Past.Closed():
		return &problem{schemas.ScoreNoHistory, shorten(fmt.Sprintf("there is no room for the past of source %s: ask for fewer series, or for windows of fewer metrics", src.Name))}
	case src.Past.Over(name):
		return &problem{schemas.ScoreTooManySeries, shorten(fmt.Sprintf("source %s has more than %d series of %s that are looked back at: name labels, or keep fewer", src.Name, window.MaxSeries, name))}
	}
	return nil
}

// tooLittle says that a window holds less than minPoints and half its length.
func tooLittle(args arguments, labels map[string]string, points int, covers time.Duration) *problem {
	return &problem{schemas.ScoreTooLittleHistory, shorten(fmt.Sprintf(
		"the last %s of %s hold %s over %s, want %d over %s: wait, look back less far, or publish oftener (%d events of a source are kept)",
		args.length(), query(args.text(0), labels), values(points), covers.Round(time.Millisecond), minPoints, args.length()/2, window.MaxEvents))}
}

func values(n int) string {
	if n == 1 {
		return "1 value"
	}
	return fmt.Sprintf("%d values", n)
}

func enough(t *track, length time.Duration) bool {
	return len(t.points) >= minPoints && t.covers() >= length/2
}

// only returns the past of the one fresh series that matches.
func (r *reader) only(function string, args arguments) (*track, *problem) {
	var found *track
	count := 0
	p := r.each(args, func(t *track) {
		found = t
		count++
	})
	labels := r.labels(args)
	switch {
	case p != nil:
		return nil, p
	case count == 0:
		return nil, r.missing(args.text(0), labels)
	case count > 1:
		return nil, r.ambiguous(function, args.text(0), labels, count)
	case !enough(found, args.length()):
		return nil, tooLittle(args, labels, len(found.points), found.covers())
	}
	return found, nil
}

// notePast takes note of what a window came to.
func (r *reader) notePast(function string, t *track, length time.Duration, value float64) {
	r.oldest = earlier(r.oldest, t.source.ObservedAt)
	if len(r.reads) >= MaxInputs || len(t.points) == 0 {
		return
	}
	r.reads = append(r.reads, read{kind: "window", source: t.source, series: t.series, value: value, key: function, span: &span{
		first: t.points[0], last: t.points[len(t.points)-1], points: len(t.points), length: length,
	}})
}

// over applies a function of values to the past of one series.
func over(name string, of func([]float64) float64) func(*reader, arguments) (any, *problem) {
	return func(r *reader, args arguments) (any, *problem) {
		t, p := r.only(name, args)
		if p != nil {
			return nil, p
		}
		value := of(t.values())
		r.notePast(name, t, args.length(), value)
		return value, nil
	}
}

func readCountOver(r *reader, args arguments) (any, *problem) {
	count := 0
	p := r.each(args, func(t *track) {
		count += len(t.points)
		r.notePast("count_over", t, args.length(), float64(len(t.points)))
	})
	return int64(count), p
}

// readEWMA weighs by age: what is a half-life old counts half. The average
// begins with the first value, and between two values it goes on towards the
// later one.
func readEWMA(r *reader, args arguments) (any, *problem) {
	halfLife := args.duration(len(args) - 2)
	if halfLife <= 0 {
		return nil, failed(fmt.Sprintf("ewma wants a half-life of more than 0, it is %s", halfLife))
	}
	t, p := r.only("ewma", args)
	if p != nil {
		return nil, p
	}
	average := t.points[0].Value
	for i := 1; i < len(t.points); i++ {
		passed := t.points[i].At.Sub(t.points[i-1].At)
		average += (1 - math.Exp2(-float64(passed)/float64(halfLife))) * (t.points[i].Value - average)
	}
	r.notePast("ewma", t, args.length(), average)
	return average, nil
}

// readPercentile interpolates between the two closest ranks, as Prometheus'
// quantile_over_time does.
func readPercentile(r *reader, args arguments) (any, *problem) {
	percent, _ := number(args[len(args)-2])
	if !isPercent(percent) {
		return nil, failed("percentile_over wants a percentage from 0 to 100, it is " + formatNumber(percent))
	}
	t, p := r.only("percentile_over", args)
	if p != nil {
		return nil, p
	}
	values := t.values()
	slices.Sort(values)
	rank := percent / 100 * float64(len(values)-1)
	below := int(rank)
	above := min(below+1, len(values)-1)
	value := values[below] + (values[above]-values[below])*(rank-float64(below))
	r.notePast("percentile_over", t, args.length(), value)
	return value, nil
}

func isPercent(v float64) bool { return v >= 0 && v <= 100 }

// readRate adds up the rates of all counters that match. A source's counters
// are measured over one time, from the first value of the longest known, so
// that one that was added or begun anew meanwhile counts with what it grew.
func readRate(r *reader, args arguments) (any, *problem) {
	var sources []*growth
	length := args.length()
	p := r.each(args, func(t *track) {
		if len(sources) == 0 || sources[len(sources)-1].source != t.source {
			sources = append(sources, &growth{source: t.source})
		}
		sources[len(sources)-1].add(r, t, length)
	})
	if p != nil {
		return nil, p
	}
	labels := r.labels(args)
	if len(sources) == 0 {
		return nil, r.missing(args.text(0), labels)
	}
	rate := 0.0
	for _, g := range sources {
		if g.points < minPoints || g.covers < length/2 {
			return nil, tooLittle(args, labels, g.points, g.covers)
		}
		rate += g.by / g.covers.Seconds()
	}
	return rate, nil
}

// growth is what the counters of one source grew by.
type growth struct {
	source *Source
	by     float64
	covers time.Duration
	points int // of the longest known
}

func (g *growth) add(r *reader, t *track, length time.Duration) {
	grew := increase(t.points)
	g.by += grew
	if c := t.covers(); c > g.covers || g.points == 0 {
		g.covers, g.points = c, len(t.points)
	}
	r.notePast("increase", t, length, grew)
}

// increase is how much a counter grew. One that fell began anew at 0, as
// Prometheus takes it.
func increase(points []window.Point) float64 {
	total := 0.0
	for i := 1; i < len(points); i++ {
		if grew := points[i].Value - points[i-1].Value; grew >= 0 {
			total += grew
		} else {
			total += points[i].Value
		}
	}
	return total
}
