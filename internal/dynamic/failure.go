package dynamic

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Reasons why there is no score.
const (
	BadConfig    = "BadConfig"    // the resource, or the scorer's own configuration, makes no sense
	NotSynced    = "NotSynced"    // the scorer's own configuration was never read
	NameTaken    = "NameTaken"    // another scorer has the name of the score
	TokenMissing = "TokenMissing" // a token's file cannot be read
	Forbidden    = "Forbidden"    // the address is not one that may be called
	NotCollected = "NotCollected" // no collector of the cluster answers what the scorer needs to know there

	Unreachable = "Unreachable" // no HTTP answer
	Timeout     = "Timeout"     // no whole answer in time
	BadStatus   = "BadStatus"   // an answer, but not 200
	CircuitOpen = "CircuitOpen" // too many failures in a row: not asked for a while

	QueryRefused  = "QueryRefused"  // the cluster's Prometheus says what is wrong with a query
	NoData        = "NoData"        // the queries have no series in the cluster
	TooManySeries = "TooManySeries" // or more values than are taken

	EmptyAnswer    = "EmptyAnswer"
	TooLarge       = "TooLarge" // more bytes than are read
	NotJSON        = "NotJSON"
	BadAnswer      = "BadAnswer"      // JSON, but no answer of the API
	TooManyResults = "TooManyResults" // or more items than a score has
	NoResult       = "NoResult"       // none for the cluster
	NoDimension    = "NoDimension"    // scoreDimensionFormat gives no name
	NotANumber     = "NotANumber"     // a result's score is no number
)

// maxMessage bounds the message of a Failure, in bytes.
const maxMessage = 512

// Failure is a reason for having no score, and what to tell people.
type Failure struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func (f *Failure) Error() string { return f.Reason + ": " + f.Message }

// Failf returns a Failure. Its message is cut where it is too long.
func Failf(reason, format string, args ...any) *Failure {
	return &Failure{Reason: reason, Message: cut(fmt.Sprintf(format, args...), maxMessage)}
}

// FailureOf returns the Failure that err is, or Unreachable.
func FailureOf(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return Failf(Unreachable, "%v", err)
}

// cut shortens text to about limit bytes, at a rune.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
