package config

import (
	"fmt"
	"regexp"

	"github.com/spokewire/spokewire/internal/fetch"
	"github.com/spokewire/spokewire/internal/sample"
)

// userAgent is what the collector calls itself.
const userAgent = "spokewire-collector"

// Fetch returns how the source's documents are fetched.
func (s *Source) Fetch() fetch.Options {
	return fetch.Options{BearerTokenFile: s.BearerTokenFile, TLS: fetch.TLS(s.TLS), MaxBytes: s.Limits.BodyBytes, UserAgent: userAgent}
}

// Rules returns the rules of a valid source.
func (s *Source) Rules() (sample.Rules, error) {
	r := sample.Rules{
		KeepLabels: s.Labels.Keep,
		DropLabels: s.Labels.Drop,
		MaxSamples: s.Limits.Samples,
		MaxLabels:  s.Limits.Labels,
	}
	var err error
	if r.Keep, err = compile("keep", s.Keep); err != nil {
		return r, err
	}
	if r.Drop, err = compile("drop", s.Drop); err != nil {
		return r, err
	}
	for i, rename := range s.Rename {
		compiled, err := sample.Compile(rename.From)
		if err != nil {
			return r, fieldErrorf(fmt.Sprintf("rename[%d].from", i), "is %q: %v", rename.From, err)
		}
		r.Rename = append(r.Rename, sample.Rename{From: compiled, To: rename.To})
	}
	return r, nil
}

func compile(field string, expressions []string) ([]*regexp.Regexp, error) {
	var all []*regexp.Regexp
	for i, e := range expressions {
		compiled, err := sample.Compile(e)
		if err != nil {
			return nil, fieldErrorf(fmt.Sprintf("%s[%d]", field, i), "is %q: %v", e, err)
		}
		all = append(all, compiled)
	}
	return all, nil
}
