package jetstream

import (
	"errors"
	"net/url"
	"strings"
)

// secrets are the passwords and tokens of a URL, as they may turn up in
// errors.
type secrets []string

func secretsOf(urls string) secrets {
	var found secrets
	for one := range strings.SplitSeq(urls, ",") {
		one = strings.TrimSpace(one)
		if i := strings.LastIndex(one, "@"); i >= 0 {
			raw := one[:i]
			if _, rest, ok := strings.Cut(raw, "://"); ok {
				raw = rest
			}
			found = append(found, raw)
			if _, password, ok := strings.Cut(raw, ":"); ok {
				found = append(found, password)
			}
		}
		if u, err := url.Parse(one); err == nil && u.User != nil {
			password, ok := u.User.Password()
			if !ok {
				password = u.User.Username() // a token
			}
			found = append(found, u.User.String(), password)
		}
	}
	return found
}

func (s secrets) redact(text string) string {
	for _, secret := range s {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "xxxxx")
		}
	}
	return text
}

// wrap returns err with its text redacted; errors.Is and As see through it.
func (s secrets) wrap(err error) error {
	if err == nil {
		return nil
	}
	if text := s.redact(err.Error()); text != err.Error() {
		return &redacted{text, err}
	}
	return err
}

type redacted struct {
	text string
	err  error
}

func (r *redacted) Error() string { return r.text }

// Is and As, but no Unwrap: nobody shall print the cause by accident.
func (r *redacted) Is(target error) bool { return errors.Is(r.err, target) }
func (r *redacted) As(target any) bool   { return errors.As(r.err, target) }
