package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Result is what one run of a benchmark found.
type Result struct {
	// Title says what was measured, in one line.
	Title   string    `json:"title"`
	Subject string    `json:"subject"`
	Command string    `json:"command"`
	Date    time.Time `json:"date"`
	Machine Machine   `json:"machine"`
	// About says what exactly was done, a sentence or more each.
	About    []string  `json:"about,omitempty"`
	Measures []Measure `json:"measures"`
	// Comparison has the run be a row of a table, nil where it is none.
	Comparison *Comparison `json:"comparison,omitempty"`
	// Summary is the run in one line, for those subjects that have one.
	Summary string `json:"summary,omitempty"`
	// Failure is what is not as it must be, empty if nothing is.
	Failure string `json:"failure,omitempty"`
}

// Comparison is a row of the table that all results of its title make.
type Comparison struct {
	Title string `json:"title"`
	// Row says what of, Columns which measures' medians are in it.
	Row     string   `json:"row"`
	Columns []Column `json:"columns"`
}

// Column is a measure under a short name.
type Column struct {
	Title   string `json:"title"`
	Measure string `json:"measure"`
}

// Machine is where it was measured.
type Machine struct {
	Cores  int    `json:"cores"`
	CPU    string `json:"cpu,omitempty"`
	Memory int64  `json:"memoryBytes"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	// Load is the load average of the minute before the run.
	Load float64 `json:"load"`
	// Revision is that of the source, where the program knows it.
	Revision string `json:"revision,omitempty"`
}

// Measure is one measured quantity.
type Measure struct {
	Name    string    `json:"name"`
	Unit    string    `json:"unit"`
	Samples []float64 `json:"samples"`
	Target  *Target   `json:"target,omitempty"`
}

// Target bounds the median of a measure. Either field is set.
type Target struct {
	AtMost  *float64 `json:"atMost,omitempty"`
	AtLeast *float64 `json:"atLeast,omitempty"`
}

// Units.
const (
	Milliseconds = "ms"
	Seconds      = "s"
	Nanoseconds  = "ns"
	PerSecond    = "1/s"
	Times        = "x" // a ratio
	MiB          = "MiB"
	Percent      = "%" // of one core, unless the name says of what
	Count        = ""
)

// AtMost is the target of a measure that should be small.
func AtMost(v float64) *Target { return &Target{AtMost: &v} }

// AtLeast is the target of a measure that should be large.
func AtLeast(v float64) *Target { return &Target{AtLeast: &v} }

// String is the target as people write it.
func (t *Target) String() string {
	switch {
	case t == nil:
		return ""
	case t.AtMost != nil:
		return "≤ " + format(*t.AtMost)
	case t.AtLeast != nil:
		return "≥ " + format(*t.AtLeast)
	}
	return ""
}

// Verdict says whether the median meets the target: "met", "missed by"
// how much, or "" without a target.
func (m *Measure) Verdict() string {
	median := Summarise(m.Samples).P50
	switch {
	case m.Target == nil || len(m.Samples) == 0:
		return ""
	case m.Target.AtMost != nil && median > *m.Target.AtMost:
		return "missed by " + format(median-*m.Target.AtMost)
	case m.Target.AtLeast != nil && median < *m.Target.AtLeast:
		return "missed by " + format(*m.Target.AtLeast-median)
	}
	return "met"
}

// Add appends a measure.
func (r *Result) Add(name, unit string, target *Target, samples ...float64) {
	r.Measures = append(r.Measures, Measure{Name: name, Unit: unit, Samples: append([]float64{}, samples...), Target: target})
}

// AddDurations appends a measure in milliseconds.
func (r *Result) AddDurations(name string, target *Target, samples []time.Duration) {
	r.Add(name, Milliseconds, target, Millis(samples)...)
}

// Millis converts durations to milliseconds, to the microsecond.
func Millis(samples []time.Duration) []float64 {
	out := make([]float64, len(samples))
	for i, d := range samples {
		out[i] = float64(d.Microseconds()) / 1000
	}
	return out
}

// Decode reads a result that was saved. Its error names the field that is
// wrong.
func Decode(text []byte) (Result, error) {
	var r Result
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&r)
	if err == nil {
		err = r.validate()
	}
	if err == nil {
		if _, rest := d.Token(); !errors.Is(rest, io.EOF) {
			err = errors.New("something follows it in the file")
		}
	}
	if err != nil {
		return Result{}, fmt.Errorf("not a result of spokewire bench: %w", err)
	}
	return r, nil
}

// validate names the first field that no run would have left so.
func (r *Result) validate() error {
	for _, f := range []struct {
		name    string
		missing bool
	}{
		{"title", r.Title == ""}, {"subject", r.Subject == ""}, {"command", r.Command == ""}, {"date", r.Date.IsZero()},
		{"machine.cores", r.Machine.Cores < 1}, {"machine.memoryBytes", r.Machine.Memory < 1},
		{"machine.kernel", r.Machine.Kernel == ""}, {"machine.go", r.Machine.Go == ""},
		{"measures", len(r.Measures) == 0},
	} {
		if f.missing {
			return missing(f.name)
		}
	}
	for i := range r.Measures {
		if err := r.Measures[i].validate(fmt.Sprintf("measures[%d].", i)); err != nil {
			return err
		}
	}
	return r.Comparison.validate()
}

func (m *Measure) validate(at string) error {
	switch {
	case m.Name == "":
		return missing(at + "name")
	case m.Samples == nil:
		return missing(at + "samples")
	case m.Target != nil && (m.Target.AtMost == nil) == (m.Target.AtLeast == nil):
		return &schemas.FieldError{Field: at + "target", Reason: "must have either atMost or atLeast"}
	}
	return nil
}

func (c *Comparison) validate() error {
	switch {
	case c == nil:
		return nil
	case c.Title == "":
		return missing("comparison.title")
	case c.Row == "":
		return missing("comparison.row")
	case len(c.Columns) == 0:
		return missing("comparison.columns")
	}
	for i, column := range c.Columns {
		if column.Title == "" || column.Measure == "" {
			return &schemas.FieldError{Field: fmt.Sprintf("comparison.columns[%d]", i), Reason: "must have a title and a measure"}
		}
	}
	return nil
}

func missing(field string) error { return &schemas.FieldError{Field: field, Reason: "is missing"} }

// Encode writes a result as it is saved.
func Encode(r Result) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(r)
	return b.Bytes(), err
}
