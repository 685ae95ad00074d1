package events_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/pkg/events"
)

func TestToken(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).Tokens {
		name := v.Name + string(v.Bytes)
		if got := events.EncodeToken(name); got != v.Token {
			t.Errorf("EncodeToken(%q) = %q, want %q", name, got, v.Token)
		}
		if got, err := events.DecodeToken(v.Token); err != nil || got != name {
			t.Errorf("DecodeToken(%q) = %q, %v, want %q", v.Token, got, err, name)
		}
	}
}

func TestDecodeTokenRefuses(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).RefusedTokens {
		if got, err := events.DecodeToken(v.Token); !errors.Is(err, events.ErrBadSubject) {
			t.Errorf("%s: DecodeToken(%q) = %q, %v, want ErrBadSubject", v.Why, v.Token, got, err)
		}
	}
}

func FuzzDecodeToken(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		if name, err := events.DecodeToken(text); err == nil && events.EncodeToken(name) != text {
			t.Errorf("DecodeToken(%q) = %q, which is encoded as %q", text, name, events.EncodeToken(name))
		}
		if text == "" {
			return
		}
		token := events.EncodeToken(text)
		if strings.ContainsAny(token, ".*> \t\r\n") {
			t.Errorf("EncodeToken(%q) = %q is not one token", text, token)
		}
		if got, err := events.DecodeToken(token); err != nil || got != text {
			t.Errorf("%q came back as %q, %v", text, got, err)
		}
	})
}
