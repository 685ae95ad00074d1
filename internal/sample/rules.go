package sample

import (
	"fmt"
	"regexp"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Rules say which series become samples. The zero value keeps all, within
// the limits of package schemas.
//
// Names are those of the series, so a histogram is d_bucket, d_sum and
// d_count. Keep and Drop see the name before it is renamed.
type Rules struct {
	// Keep, if not empty, keeps only names that one of its expressions
	// matches as a whole.
	Keep []*regexp.Regexp
	// Drop drops names that one of its expressions matches as a whole, even
	// if Keep names them.
	Drop []*regexp.Regexp
	// Rename applies the first of its rules whose From matches.
	Rename []Rename
	// KeepLabels, if not empty, takes only these labels; DropLabels removes
	// these. Series that differ in nothing else are then one: the first is
	// kept.
	KeepLabels, DropLabels []string
	// MaxSamples refuses the whole snapshot if more are kept. Default and
	// bound: schemas.MaxSamples.
	MaxSamples int
	// MaxLabels leaves out a series with more labels, counted before labels
	// are removed. Default and bound: schemas.MaxLabels.
	MaxLabels int
}

// Rename gives series another name.
type Rename struct {
	From *regexp.Regexp // matches the whole name
	// To is the new name; $1 or ${name} stand for groups of From.
	To string
}

// Compile compiles an expression that matches a name as a whole.
func Compile(expression string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(expression); err != nil {
		return nil, err
	}
	return regexp.Compile("^(?:" + expression + ")$")
}

// verdict is what the rules say of one name.
type verdict struct {
	name   string // after renaming
	reason Reason // empty if it is kept
	detail string
}

func (r *Rules) judge(name string) verdict {
	switch {
	case len(r.Keep) > 0 && !matchAny(r.Keep, name):
		return verdict{reason: NotKept}
	case matchAny(r.Drop, name):
		return verdict{reason: Dropped}
	}
	for _, rename := range r.Rename {
		if m := rename.From.FindStringSubmatchIndex(name); m != nil {
			name = string(rename.From.ExpandString(nil, rename.To, name, m))
			break
		}
	}
	if wrong := schemas.CheckMetricName(name); wrong != "" {
		return verdict{reason: BadName, detail: "the name " + wrong}
	}
	return verdict{name: name}
}

func matchAny(expressions []*regexp.Regexp, name string) bool {
	for _, e := range expressions {
		if e.MatchString(name) {
			return true
		}
	}
	return false
}

func (r *Rules) maxSamples() int { return limit(r.MaxSamples, schemas.MaxSamples) }
func (r *Rules) maxLabels() int  { return limit(r.MaxLabels, schemas.MaxLabels) }

func limit(asked, bound int) int {
	if asked <= 0 {
		return bound
	}
	return min(asked, bound)
}

// TooManyError refuses a snapshot as a whole: a part of it would make sums
// and counts silently wrong.
type TooManyError struct{ Max int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("more than %d samples are kept: narrow keep, or raise limits.samples (at most %d)", e.Max, schemas.MaxSamples)
}
