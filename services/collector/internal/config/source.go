package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"github.com/spokewire/spokewire/internal/sample"
)

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

// Target returns the source's parsed URL.
func (s *Source) Target() (*url.URL, error) {
	u, err := url.Parse(s.URL)
	switch {
	case s.URL == "":
		return nil, fieldErrorf("url", "is missing, for instance http://127.0.0.1:9100/metrics")
	case err != nil:
		return nil, fieldErrorf("url", "is not a URL: %v", withoutURL(err))
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fieldErrorf("url", "is %q, want http://HOST[:PORT]/PATH or https://…", u.Redacted())
	}
	return u, nil
}

// withoutURL takes the URL out of an error, for it may hold a password.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
