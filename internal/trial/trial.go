// Package trial scores the samples of one cluster without a bus, as the
// scorer would if they came in one snapshot after the other.
package trial

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/internal/window"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Source is what the snapshots' source is called.
const Source = "samples"

// Snapshot is all that the source had at a time.
type Snapshot struct {
	At      time.Time
	Samples []schemas.Sample
}

// Cluster is what is read beside metrics.
type Cluster struct{ Labels, Claims map[string]string }

// Outcome is what a scorer says once a snapshot is there.
type Outcome struct {
	Scorer string    `json:"scorer"`
	At     time.Time `json:"at"`
	// ValidUntil is zero where no item has a value.
	ValidUntil time.Time           `json:"validUntil,omitzero"`
	Items      []schemas.ScoreItem `json:"items"`
}

// Missing counts the items without a value.
func (o *Outcome) Missing() int {
	n := 0
	for _, it := range o.Items {
		if it.Value == nil {
			n++
		}
	}
	return n
}

// Sample is one with its time, zero for none.
type Sample struct {
	schemas.Sample
	At time.Time
}

// Page is what one file holds.
type Page struct {
	Name    string
	Samples []Sample
}

// Snapshots makes snapshots of pages, oldest first. Where samples have times,
// those of one time are a snapshot; where they have none, each page is one,
// so long after the one before it, and the last is of now. The error names
// the page.
func Snapshots(pages []Page, every time.Duration, now time.Time) ([]Snapshot, error) {
	timed, err := haveTimes(pages)
	if err != nil {
		return nil, err
	}
	byTime := map[time.Time][]schemas.Sample{}
	for i, page := range pages {
		at := now.Add(-time.Duration(len(pages)-1-i) * every)
		if !timed {
			byTime[at] = []schemas.Sample{} // a page without samples says that all are gone
		}
		for _, s := range page.Samples {
			if timed {
				at = s.At
			}
			byTime[at] = append(byTime[at], s.Sample)
		}
	}
	var out []Snapshot
	for at, samples := range byTime {
		if err := (&schemas.Metrics{Samples: samples}).Validate(); err != nil {
			return nil, fmt.Errorf("the samples of %s: %w", at.UTC().Format(time.RFC3339Nano), err)
		}
		out = append(out, Snapshot{At: at, Samples: samples})
	}
	slices.SortFunc(out, func(a, b Snapshot) int { return a.At.Compare(b.At) })
	return out, nil
}

// haveTimes reports whether the samples have times, which all or none must.
func haveTimes(pages []Page) (bool, error) {
	with, without := "", ""
	for _, page := range pages {
		for _, s := range page.Samples {
			first := &with
			if s.At.IsZero() {
				first = &without
			}
			*first = cmp.Or(*first, s.Series()+" of "+page.Name)
		}
	}
	if with != "" && without != "" {
		return false, fmt.Errorf("%s has a time, %s has none: give all samples times, or none", with, without)
	}
	return with != "", nil
}

// Run scores after each snapshot. Snapshots are oldest first.
func Run(p *score.Program, c Cluster, snapshots []Snapshot) ([]Outcome, error) {
	if len(snapshots) == 0 {
		return nil, errors.New("there is no sample to score")
	}
	source := &score.Source{Name: Source, Past: window.New(window.Select(p.Asks()), time.Time{})}
	cluster := &score.Cluster{Labels: c.Labels, Claims: c.Claims, Sources: []*score.Source{source}}
	outcomes := make([]Outcome, len(snapshots))
	for i, s := range snapshots {
		source.Sequence, source.ObservedAt = uint64(i+1), s.At
		source.Samples = series.NewSamples(s.Samples)
		source.Past.Append(window.Event{Sequence: source.Sequence, ObservedAt: s.At, Samples: source.Samples})
		result := p.Evaluate(cluster, s.At)
		outcomes[i] = Outcome{Scorer: p.Scorer(), At: s.At, ValidUntil: result.ValidUntil, Items: result.Score()}
	}
	return outcomes, nil
}

// Pairs reads "name=value" texts.
func Pairs(texts []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("is %q, want NAME=VALUE", text)
		}
		out[name] = value
	}
	return out, nil
}
