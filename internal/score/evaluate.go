package score

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/google/cel-go/cel"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Result is what a program says of a cluster at one time.
type Result struct {
	Items []Item
	// ValidUntil is when the oldest sample among the inputs ceases to be
	// fresh, or validFor from now on where there is no sample among them. It
	// is zero where no item has a value.
	ValidUntil time.Time
	// Timeless is true where items have values, but no samples among their
	// inputs: the result holds on as long as somebody says so.
	Timeless bool
	// Wake is when time alone may change the result: a sample that was
	// looked at ceases to be fresh. Zero for never.
	Wake time.Time
}

// Item is one dimension of a Result.
type Item struct {
	Name string
	// Value is nil where there is no score.
	Value *int32
	// Raw is the number before rounding and clamping, where it is finite.
	Raw     *float64
	Reason  string
	Message string
	// Inputs are what it was computed from, beside what an expression read.
	Inputs []schemas.ScoreInput

	reads []read
}

// Computed returns an item of a finite number, rounded and clamped.
func Computed(name string, raw float64) Item {
	i := Item{Name: name}
	i.set(raw)
	return i
}

// Without returns an item that has no value.
func Without(name, reason, message string) Item {
	return Item{Name: name, Reason: reason, Message: shorten(message)}
}

// Evaluate applies the program to a cluster. It depends on nothing but its
// arguments.
func (p *Program) Evaluate(c *Cluster, now time.Time) Result {
	e := evaluation{cluster: c, now: now, validFor: p.validFor}
	e.result.Items = make([]Item, 0, len(p.items))
	for i := range p.items {
		if it := &p.items[i]; it.by != "" && it.broken == nil {
			e.each(it)
		} else {
			r := e.reader()
			e.add(r, it.evaluate(r, it.name))
		}
	}
	return e.done()
}

// evaluation is one under way.
type evaluation struct {
	cluster  *Cluster
	now      time.Time
	validFor time.Duration
	result   Result
	oldest   time.Time // of the samples that items with a value rest on
	valued   bool
}

func (e *evaluation) reader() *reader {
	return &reader{cluster: e.cluster, now: e.now, validFor: e.validFor}
}

// add takes an item in, and what the reader noted meanwhile.
func (e *evaluation) add(r *reader, it Item) {
	e.note(r)
	if it.Value != nil {
		e.valued = true
		if !r.oldest.IsZero() {
			e.oldest = earlier(e.oldest, r.oldest)
		}
	}
	e.result.Items = append(e.result.Items, it)
}

func (e *evaluation) note(r *reader) {
	if !r.stale.IsZero() {
		e.result.Wake = earlier(e.result.Wake, r.stale)
	}
}

func (e *evaluation) done() Result {
	switch {
	case !e.valued:
	case e.oldest.IsZero():
		e.result.Timeless = true
		e.result.ValidUntil = e.now.Add(e.validFor)
	default:
		e.result.ValidUntil = e.oldest.Add(e.validFor)
	}
	return e.result
}

func (i *item) evaluate(r *reader, name string) Item {
	out := Item{Name: name}
	raw, p := i.run(r)
	if p != nil {
		out.Reason, out.Message = p.reason, p.message
	} else {
		out.set(raw)
	}
	out.reads = r.reads
	return out
}

// run returns the number that the expression gives.
func (i *item) run(r *reader) (float64, *problem) {
	if i.broken != nil {
		return 0, i.broken
	}
	v, _, err := i.program.Eval(activation{r})
	if err != nil {
		var p *problem
		if errors.As(err, &p) {
			return 0, p
		}
		return 0, failed(err.Error())
	}
	raw, ok := number(v)
	if !ok {
		return 0, failed(fmt.Sprintf("the expression gave a %s, want a number", v.Type().TypeName()))
	}
	return raw, nil
}

// set rounds half away from zero and clamps.
func (i *Item) set(raw float64) {
	if math.IsNaN(raw) || math.IsInf(raw, 0) {
		i.Reason = schemas.ScoreNotFinite
		i.Message = fmt.Sprintf("the expression gave %s, which is not a number that can be compared: does it divide by 0?", formatNumber(raw))
		return
	}
	rounded := math.Round(raw)
	value := int32(math.Max(schemas.MinScore, math.Min(schemas.MaxScore, rounded)))
	i.Raw, i.Value, i.Reason = &raw, &value, schemas.ScoreComputedReason
	if float64(value) != rounded {
		i.Reason = schemas.ScoreClamped
		i.Message = fmt.Sprintf("%s is outside %d..%d", formatNumber(raw), schemas.MinScore, schemas.MaxScore)
	}
}

// Score returns the items as an event shows them, with their inputs.
func (r *Result) Score() []schemas.ScoreItem {
	items := make([]schemas.ScoreItem, len(r.Items))
	for i, it := range r.Items {
		items[i] = schemas.ScoreItem{
			Name: it.Name, Value: it.Value, Raw: it.Raw,
			Reason: it.Reason, Message: it.Message, Inputs: append(inputs(it.reads), it.Inputs...),
		}
	}
	return items
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// activation resolves the one variable there is.
type activation struct{ r *reader }

// ResolveName returns the reader.
func (a activation) ResolveName(name string) (any, bool) {
	if name == self {
		return a.r, true
	}
	return nil, false
}

// Parent returns nil.
func (a activation) Parent() cel.Activation { return nil }
