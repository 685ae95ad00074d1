package cli

import (
	"strings"
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	tests := map[string]time.Duration{
		"0ms":   0,
		"7ms":   7250 * time.Microsecond,
		"999ms": 999 * time.Millisecond,
		"1s":    999_600 * time.Microsecond,
		"30s":   29_997 * time.Millisecond,
		"119s":  119 * time.Second,
		"2m":    120 * time.Second,
		"119m":  119 * time.Minute,
		"2h":    2 * time.Hour,
		"47h":   47 * time.Hour,
		"2d":    48 * time.Hour,
		"-5s":   -5 * time.Second,
	}
	for want, d := range tests {
		if got := span(d); got != want {
			t.Errorf("span(%v) is %q, want %q", d, got, want)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	if got := list([]string{"a", "b", "c", "d"}); got != "a b c d" {
		t.Errorf("got %q", got)
	}
	if got := list([]string{"a", "b", "c", "d", "e", "f"}); got != "a b c d +2" {
		t.Errorf("got %q", got)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 200)
	if got := shorten(long); len([]rune(got)) != 120 || !strings.HasSuffix(got, "ä…") {
		t.Errorf("got %d characters: %q", len([]rune(got)), got)
	}
	if got := shorten("short"); got != "short" {
		t.Errorf("got %q", got)
	}
}
