package schemas

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Bounds of one metrics event, lengths in characters. They keep what one
// publisher can make every reader hold in memory finite.
const (
	MaxSamples         = 10_000
	MaxLabels          = 64
	MaxNameLength      = 256
	MaxLabelNameLength = 256
	MaxLabelLength     = 1024
)

// Metrics is a snapshot: the current samples of one source of one cluster.
// It replaces the source's previous snapshot as a whole, so a series that is
// not in it is gone. The cluster and the source stand in the event's source
// attribute and in its subject.
type Metrics struct {
	Samples []Sample `json:"samples"`
}

// Sample is the value of one series.
type Sample struct {
	// Name is a metric name: a letter, '_' or ':' first, then also digits
	// and '.', at most MaxNameLength of them.
	Name string `json:"name"`
	// Value is finite.
	Value  float64           `json:"value"`
	Labels map[string]string `json:"labels,omitempty"`
	// Unit is for people, for instance "bytes". It is not interpreted.
	Unit string `json:"unit,omitempty"`
}

// Validate checks names, values and bounds. Two samples of one name and the
// same labels are refused.
func (m *Metrics) Validate() error {
	if m.Samples == nil {
		return fieldErrorf("samples", "is missing (an empty list means that the source has no series)")
	}
	if len(m.Samples) > MaxSamples {
		return fieldErrorf("samples", "has %d items, at most %d are taken", len(m.Samples), MaxSamples)
	}
	for i := range m.Samples {
		if err := m.Samples[i].validate(i); err != nil {
			return err
		}
	}
	return m.checkRepeats()
}

// checkRepeats only writes out the series of names that occur more than once.
func (m *Metrics) checkRepeats() error {
	names := make(map[string]int, len(m.Samples))
	for i := range m.Samples {
		names[m.Samples[i].Name]++
	}
	if len(names) == len(m.Samples) {
		return nil
	}
	seen := make(map[string]struct{}, len(m.Samples)-len(names)+1)
	for i := range m.Samples {
		if names[m.Samples[i].Name] == 1 {
			continue
		}
		key := m.Samples[i].Series()
		if _, twice := seen[key]; twice {
			return fieldErrorf(sampleField(i, ""), "repeats series %s", key)
		}
		seen[key] = struct{}{}
	}
	return nil
}

func (s *Sample) validate(i int) error {
	if reason := CheckMetricName(s.Name); reason != "" {
		return fieldErrorf(sampleField(i, ".name"), "%s", reason)
	}
	if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
		return fieldErrorf(sampleField(i, ".value"), "is %v, want a finite number", s.Value)
	}
	if len(s.Labels) > MaxLabels {
		return fieldErrorf(sampleField(i, ".labels"), "has %d labels, at most %d are taken", len(s.Labels), MaxLabels)
	}
	for name, value := range s.Labels {
		if reason := CheckLabel(name, value); reason != "" {
			return fieldErrorf(sampleField(i, ".labels"), "%s", reason)
		}
	}
	if reason := checkText(s.Unit, MaxNameLength); reason != "" {
		return fieldErrorf(sampleField(i, ".unit"), "%s", reason)
	}
	return nil
}

func sampleField(i int, rest string) string { return "samples[" + strconv.Itoa(i) + "]" + rest }

// CheckMetricName returns "" for a metric name, else what is wrong with it.
func CheckMetricName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > MaxNameLength:
		return "is " + strconv.Itoa(len(name)) + " bytes long, at most " + strconv.Itoa(MaxNameLength) + " are taken"
	}
	for i := range len(name) {
		if !isNameByte(name[i], i == 0) {
			return strconv.Quote(name) + " is not a metric name: byte " + strconv.Itoa(i) + " is " + strconv.QuoteRune(rune(name[i]))
		}
	}
	return ""
}

func isNameByte(c byte, first bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == ':':
		return true
	case c >= '0' && c <= '9', c == '.':
		return !first
	}
	return false
}

// CheckLabel returns "" for a label that a sample may carry, else what is
// wrong with it.
func CheckLabel(name, value string) string {
	if name == "" {
		return "has an empty label name"
	}
	if reason := checkText(name, MaxLabelNameLength); reason != "" {
		return "has a label name that " + reason
	}
	for i := range len(name) {
		if name[i] < ' ' {
			return "has a control character in label name " + strconv.Quote(name)
		}
	}
	if reason := checkText(value, MaxLabelLength); reason != "" {
		return "has label " + strconv.Quote(name) + ", whose value " + reason
	}
	return ""
}

// checkText returns "" for text of at most limit characters.
func checkText(text string, limit int) string {
	if !utf8.ValidString(text) {
		return "is not UTF-8"
	}
	if len(text) > limit && utf8.RuneCountInString(text) > limit {
		return "is " + strconv.Itoa(utf8.RuneCountInString(text)) + " characters long, at most " + strconv.Itoa(limit) + " are taken"
	}
	return ""
}
