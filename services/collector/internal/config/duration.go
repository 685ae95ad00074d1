package config

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// Duration is a time.Duration written as "1m30s". What cannot be read is
// kept for Validate, which knows the field's name; the decoder does not.
type Duration struct {
	time.Duration
	wrong string
}

// Of returns d as a Duration.
func Of(d time.Duration) Duration { return Duration{Duration: d} }

// MarshalJSON writes the duration as a string.
func (d Duration) MarshalJSON() ([]byte, error) {
	return []byte(strconv.Quote(d.String())), nil
}

// UnmarshalJSON reads a string that time.ParseDuration takes; it never
// fails.
func (d *Duration) UnmarshalJSON(data []byte) error {
	*d = Duration{}
	var s string
	if json.Unmarshal(data, &s) != nil {
		d.wrong = string(bytes.TrimSpace(data))
		return nil //nolint:nilerr // Validate tells of it, with the field's name
	}
	if parsed, err := time.ParseDuration(s); err == nil {
		d.Duration = parsed
		return nil
	}
	d.wrong = strconv.Quote(s)
	return nil
}

func (d Duration) validate(field string) error {
	if d.wrong != "" {
		return fieldErrorf(field, "is %.50s, want a duration with its unit such as \"10s\"", d.wrong)
	}
	return nil
}
