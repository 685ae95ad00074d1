package events_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/pkg/events"
)

func TestToken(t *testing.T) {
	t.Parallel()
	for name, wantToken := range map[string]string{
		"spoke-1":      "spoke-1",
		"a_b":          "a_b",
		"_":            "%5F",
		"__":           "__",
		"eu.west.1":    "eu%2Ewest%2E1",
		"*":            "%2A",
		">":            "%3E",
		"100%":         "100%25",
		"a b":          "a%20b",
		"é":            "%C3%A9",
		"\xff":         "%FF",
		"line\nbreak":  "line%0Abreak",
		"%2E":          "%252E",
		"UPPER-lower9": "UPPER-lower9",
	} {
		if got := events.EncodeToken(name); got != wantToken {
			t.Errorf("EncodeToken(%q) = %q, want %q", name, got, wantToken)
		}
		if got, err := events.DecodeToken(wantToken); err != nil || got != name {
			t.Errorf("DecodeToken(%q) = %q, %v, want %q", wantToken, got, err, name)
		}
	}
}

func TestDecodeTokenRefuses(t *testing.T) {
	t.Parallel()
	for name, token := range map[string]string{
		"empty":                "",
		"no namespace":         "_",
		"a dot":                "a.b",
		"a wildcard":           "*",
		"the rest":             ">",
		"a lone percent":       "a%",
		"half a code":          "a%2",
		"lower-case code":      "a%2e",
		"no hexadecimal":       "a%ZZ",
		"a code for a letter":  "%61",
		"a zero-width space":   "a\u200bb",
		"raw UTF-8":            "é",
		"an encoded underline": "a%5F",
	} {
		if got, err := events.DecodeToken(token); !errors.Is(err, events.ErrBadSubject) {
			t.Errorf("%s: DecodeToken(%q) = %q, %v, want ErrBadSubject", name, token, got, err)
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
