package sample

import (
	"iter"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Reason is why a series is not in the snapshot.
type Reason string

// Reasons.
const (
	NotKept        Reason = "NotKept"        // keep does not name it
	Dropped        Reason = "Dropped"        // drop names it
	NotFinite      Reason = "NotFinite"      // its value is NaN or infinite
	BadName        Reason = "BadName"        // no metric name of the bus
	BadLabel       Reason = "BadLabel"       // a label that the bus refuses
	TooManyLabels  Reason = "TooManyLabels"  // more than limits.labels
	Duplicate      Reason = "Duplicate"      // the snapshot already has the series
	NoData         Reason = "NoData"         // what was asked for has no series at all
	BadItem        Reason = "BadItem"        // an item of a document makes no sample
	NoCluster      Reason = "NoCluster"      // the label that names its cluster is missing
	UnknownCluster Reason = "UnknownCluster" // it names a cluster that is not listed
	Incomplete     Reason = "Incomplete"     // the source warns that something may be missing
)

// ByRule reports whether the user asked for it; other reasons deserve a
// warning.
func (r Reason) ByRule() bool { return r == NotKept || r == Dropped }

// Left counts the series that were left out for one reason.
type Left struct {
	Reason Reason
	Count  int
	// Example says what is wrong with the first of them, "" for ByRule.
	Example string
}

// Snapshot is what was selected.
type Snapshot struct {
	Samples []schemas.Sample // sorted by series
	Left    []Left           // sorted by reason
}

// Labels are the labels of one series, and how many they are.
type Labels struct {
	Len int
	All iter.Seq2[string, string]
}

// LabelsOf returns the labels of a map.
func LabelsOf(labels map[string]string) Labels {
	return Labels{Len: len(labels), All: maps.All(labels)}
}

// Selection gathers the series of one exposition. Of two equal series the
// first is kept.
type Selection struct {
	rules    *Rules
	verdicts map[string]verdict // at most maxVerdicts
	current  verdict            // of the last name that Wants was asked for
	samples  []schemas.Sample
	keys     []string
	seen     map[string]struct{}
	left     map[Reason]Left
	over     bool
}

// Start begins a selection by r.
func (r *Rules) Start() *Selection {
	return &Selection{
		rules:    r,
		verdicts: map[string]verdict{},
		seen:     map[string]struct{}{},
		left:     map[Reason]Left{},
	}
}

// maxVerdicts bounds the memory for names: an exposition may hold millions
// of different ones.
const maxVerdicts = 2 * schemas.MaxSamples

// Wants reports whether the next series, of this name, is to be given to
// Add. If not, it counts the series as left out.
func (s *Selection) Wants(name []byte) bool {
	if s.over {
		return false
	}
	v, known := s.verdicts[string(name)]
	if !known {
		v = s.rules.judge(string(name))
		if len(s.verdicts) < maxVerdicts {
			s.verdicts[string(name)] = v
		}
	}
	s.current = v
	if v.reason != "" {
		s.leave(v.reason, v.detail)
		return false
	}
	return true
}

// Add takes in the series that Wants has just said yes to, or counts why
// not.
func (s *Selection) Add(labels Labels, value float64, unit string) {
	v := s.current
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		s.leave(NotFinite, v.name+" is "+strconv.FormatFloat(value, 'g', -1, 64))
		return
	case labels.Len > s.rules.maxLabels():
		s.leave(TooManyLabels, v.name+" has "+strconv.Itoa(labels.Len)+" labels, at most "+strconv.Itoa(s.rules.maxLabels())+" are taken")
		return
	}
	sample := schemas.Sample{Name: v.name, Value: value}
	if len(unit) <= schemas.MaxNameLength {
		sample.Unit = unit
	}
	var wrong string
	if sample.Labels, wrong = s.pick(labels); wrong != "" {
		s.leave(BadLabel, v.name+" "+wrong)
		return
	}
	s.append(sample)
}

// Put takes in a series that was asked for by name, whatever Keep, Drop and
// Rename say.
func (s *Selection) Put(name string, labels Labels, value float64, unit string) {
	if s.over {
		return
	}
	s.current = verdict{name: name}
	if wrong := schemas.CheckMetricName(name); wrong != "" {
		s.leave(BadName, "the name "+wrong)
		return
	}
	s.Add(labels, value, unit)
}

// pick returns the labels that the rules take, or what is wrong with one.
func (s *Selection) pick(labels Labels) (map[string]string, string) {
	if labels.Len == 0 {
		return nil, ""
	}
	picked := make(map[string]string, labels.Len)
	for name, value := range labels.All {
		if !s.takes(name) {
			continue
		}
		if wrong := schemas.CheckLabel(name, value); wrong != "" {
			return nil, wrong
		}
		picked[name] = value
	}
	return picked, ""
}

func (s *Selection) takes(label string) bool {
	if keep := s.rules.KeepLabels; len(keep) > 0 && !slices.Contains(keep, label) {
		return false
	}
	return !slices.Contains(s.rules.DropLabels, label)
}

func (s *Selection) append(sample schemas.Sample) {
	key := sample.Series()
	if _, twice := s.seen[key]; twice {
		s.leave(Duplicate, key+" comes twice, the first is kept")
		return
	}
	if len(s.samples) == s.rules.maxSamples() {
		s.over = true
		return
	}
	s.seen[key] = struct{}{}
	s.samples = append(s.samples, sample)
	s.keys = append(s.keys, key)
}

func (s *Selection) leave(reason Reason, example string) {
	l := s.left[reason]
	if l.Count == 0 {
		l.Reason, l.Example = reason, example
	}
	l.Count++
	s.left[reason] = l
}

// Note counts something that the snapshot lacks, and that never was a series.
func (s *Selection) Note(reason Reason, example string) { s.leave(reason, example) }

// Snapshot ends the selection. It returns a *TooManyError if more samples
// are kept than the limit; the snapshot then tells only what was left out.
func (s *Selection) Snapshot() (Snapshot, error) {
	snapshot := Snapshot{Samples: []schemas.Sample{}}
	for _, reason := range slices.Sorted(maps.Keys(s.left)) {
		snapshot.Left = append(snapshot.Left, s.left[reason])
	}
	if s.over {
		return snapshot, &TooManyError{Max: s.rules.maxSamples()}
	}
	sort.Sort(bySeries{s})
	snapshot.Samples = append(snapshot.Samples, s.samples...)
	return snapshot, nil
}

// bySeries sorts samples and keys together.
type bySeries struct{ *Selection }

func (b bySeries) Len() int           { return len(b.keys) }
func (b bySeries) Less(i, j int) bool { return b.keys[i] < b.keys[j] }
func (b bySeries) Swap(i, j int) {
	b.keys[i], b.keys[j] = b.keys[j], b.keys[i]
	b.samples[i], b.samples[j] = b.samples[j], b.samples[i]
}
