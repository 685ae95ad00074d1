package config

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func fieldErrorf(field, format string, args ...any) error {
	return &schemas.FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Validate returns the first *schemas.FieldError; Field is the path in the
// file.
func (c *Config) Validate() error {
	if err := cmp.Or(c.validateCluster(), c.validateScoring()); err != nil {
		return err
	}
	if len(c.Sources) == 0 {
		return fieldErrorf("sources", "is empty: name at least one thing to collect from")
	}
	seen := map[string]int{}
	for i := range c.Sources {
		field := fmt.Sprintf("sources[%d].", i)
		if err := c.Sources[i].Validate(); err != nil {
			return within(field, err)
		}
		name := c.Sources[i].Name
		if first, twice := seen[name]; twice {
			return fieldErrorf(field+"name", "is %q, as is sources[%d].name", name, first)
		}
		seen[name] = i
	}
	switch {
	case c.Outbox.Dir == "":
		return fieldErrorf("outbox.dir", "is missing: name a directory that survives restarts")
	case c.Outbox.MaxBytes < MinOutboxBytes:
		return fieldErrorf("outbox.maxBytes", "is %d, want at least %d", c.Outbox.MaxBytes, MinOutboxBytes)
	}
	return nil
}

// Validate returns the first *schemas.FieldError; Field is the path in the
// source.
func (s *Source) Validate() error {
	if err := checkName("name", s.Name); err != nil {
		return err
	}
	if err := s.validateKind(); err != nil {
		return err
	}
	if err := s.validateTimes(); err != nil {
		return err
	}
	if (s.TLS.CertFile == "") != (s.TLS.KeyFile == "") {
		return fieldErrorf("tls", "has one of certFile and keyFile, want both or none")
	}
	if err := s.validateLimits(); err != nil {
		return err
	}
	if err := cmp.Or(s.validateDerive(), s.validateFleet()); err != nil {
		return err
	}
	for i, rename := range s.Rename {
		if rename.From == "" || rename.To == "" {
			return fieldErrorf(fmt.Sprintf("rename[%d]", i), "needs from and to")
		}
	}
	_, err := s.Rules()
	return err
}

func (s *Source) validateTimes() error {
	if err := cmp.Or(s.Interval.validate("interval"), s.Timeout.validate("timeout")); err != nil {
		return err
	}
	switch interval, timeout := s.Interval.Duration, s.Timeout.Duration; {
	case interval < MinInterval || interval > MaxInterval:
		return fieldErrorf("interval", "is %v, want %v to %v", interval, MinInterval, MaxInterval)
	case timeout <= 0 || timeout > MaxTimeout:
		return fieldErrorf("timeout", "is %v, want more than 0s and at most %v", timeout, MaxTimeout)
	}
	return nil
}

func (s *Source) validateLimits() error {
	switch l := s.Limits; {
	case l.BodyBytes < 1 || l.BodyBytes > MaxBodyBytes:
		return fieldErrorf("limits.bodyBytes", "is %d, want 1 to %d", l.BodyBytes, MaxBodyBytes)
	case l.Samples < 1 || l.Samples > schemas.MaxSamples:
		return fieldErrorf("limits.samples", "is %d, want 1 to %d", l.Samples, schemas.MaxSamples)
	case l.Labels < 1 || l.Labels > schemas.MaxLabels:
		return fieldErrorf("limits.labels", "is %d, want 1 to %d", l.Labels, schemas.MaxLabels)
	}
	return nil
}

// checkName refuses what would make a subject that nobody can read.
func checkName(field, name string) error {
	switch {
	case name == "":
		return fieldErrorf(field, "is missing")
	case len(name) > maxNameLength:
		return fieldErrorf(field, "has %d bytes, at most %d are taken", len(name), maxNameLength)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '/' || r == '\uFFFD' }):
		return fieldErrorf(field, "is %q: spaces, slashes and control characters are not taken", name)
	}
	return nil
}

func within(path string, err error) error {
	var field *schemas.FieldError
	if errors.As(err, &field) {
		return &schemas.FieldError{Field: path + field.Field, Reason: field.Reason}
	}
	return err
}
