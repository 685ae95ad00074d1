package schemas

import (
	"encoding/json"
	"errors"
	"time"
)

// Duration is a time.Duration that stands in JSON as Go writes it: "1m30s".
type Duration time.Duration

var errNoDuration = errors.New(`want a duration such as "60s" or "1h30m"`)

// MarshalJSON writes the duration as a string.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON reads a string that time.ParseDuration takes.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return errNoDuration
	}
	parsed, err := time.ParseDuration(s)
	if err != nil {
		return errNoDuration
	}
	*d = Duration(parsed)
	return nil
}

// withinPolicy reports whether a placement policy may have it.
func (d Duration) withinPolicy() bool {
	return d >= 0 && d <= Duration(MaxPolicyTime*time.Hour)
}

func (d Duration) String() string { return time.Duration(d).String() }
