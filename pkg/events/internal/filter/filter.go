// Package filter matches subjects against the wildcards of NATS: '*' stands
// for one token, a last '>' for one or more.
package filter

import (
	"fmt"
	"strings"
)

// CheckSubject refuses what no message can be stored under: empty tokens,
// wildcards, white space and control characters.
func CheckSubject(subject string) error {
	if err := Check(subject); err != nil {
		return err
	}
	for token := range strings.SplitSeq(subject, ".") {
		if token == "*" || token == ">" {
			return fmt.Errorf("%q has a wildcard", subject)
		}
	}
	return nil
}

// Check refuses what is not a filter. Where '>' stands, it must be last.
func Check(filter string) error {
	for i := range len(filter) {
		if c := filter[i]; c <= ' ' || c == 0x7f {
			return fmt.Errorf("%q has white space or a control character", filter)
		}
	}
	tokens := strings.Split(filter, ".")
	for i, token := range tokens {
		switch {
		case token == "":
			return fmt.Errorf("%q has an empty token", filter)
		case token == ">" && i < len(tokens)-1:
			return fmt.Errorf("%q goes on after '>'", filter)
		}
	}
	return nil
}

// Match reports whether subject is one that filter covers. Both must have
// passed their checks.
func Match(filter, subject string) bool {
	for {
		f, filterRest, filterMore := strings.Cut(filter, ".")
		s, subjectRest, subjectMore := strings.Cut(subject, ".")
		switch {
		case f == ">":
			return true
		case f != "*" && f != s:
			return false
		case !filterMore || !subjectMore:
			return filterMore == subjectMore
		}
		filter, subject = filterRest, subjectRest
	}
}

// MatchAny reports whether one of filters covers subject; no filters cover
// all.
func MatchAny(filters []string, subject string) bool {
	for _, f := range filters {
		if Match(f, subject) {
			return true
		}
	}
	return len(filters) == 0
}

// Overlap reports whether some subject is covered by both filters.
func Overlap(a, b string) bool {
	for {
		first, restA, moreA := strings.Cut(a, ".")
		second, restB, moreB := strings.Cut(b, ".")
		switch {
		case first == ">" || second == ">":
			return true
		case first != second && first != "*" && second != "*":
			return false
		case !moreA || !moreB:
			return moreA == moreB
		}
		a, b = restA, restB
	}
}
