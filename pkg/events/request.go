package events

import (
	"context"
	"fmt"
	"time"
)

// Requests have a subject below sw.ask, in no stream. Their payloads, and
// those of the answers, are plain JSON: package schemas has their types.
const (
	askPrefix = "sw.ask."
	// AskSubjects is a filter for all of them.
	AskSubjects = askPrefix + "*"

	AskExplain = askPrefix + "explain"
	AskWhatIf  = askPrefix + "whatif"
	AskReplay  = askPrefix + "replay"
	AskAudit   = askPrefix + "audit"
)

// QuerySubjects is a filter for what collectors are asked on behalf of dynamic
// scorers, in no stream either.
const QuerySubjects = "sw.query.*"

// QuerySubject is where the collector of a cluster is asked.
func QuerySubject(cluster string) string { return "sw.query." + EncodeToken(cluster) }

// Codes of a Refusal, as HTTP has them.
const (
	RefusedBad      = 400
	RefusedUnknown  = 404
	RefusedTooLarge = 413
	RefusedFailed   = 500
	RefusedBusy     = 503
	RefusedTimeout  = 504
)

// Refusal is the answer to a request that has no other.
type Refusal struct {
	Code int `json:"code"`
	// Field is the one of the request that is refused, if it is one.
	Field string `json:"field,omitempty"`
	// Message says why, for people, and what to do.
	Message string `json:"message"`
}

func (r *Refusal) Error() string {
	if r.Field == "" {
		return r.Message
	}
	return r.Field + " " + r.Message
}

// Refusef returns a Refusal.
func Refusef(code int, field, format string, args ...any) error {
	return &Refusal{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Endpoint answers the requests on one subject.
type Endpoint struct {
	// Name is one word.
	Name, Subject string
	// Answer returns the answer's payload. An error that is no *Refusal is
	// logged, and the requester is told only that it failed.
	Answer func(ctx context.Context, payload []byte) ([]byte, error)
}

// Service is what answers requests. Zero bounds have defaults.
type Service struct {
	Name        string
	Version     string // as in semantic versioning
	Description string
	Endpoints   []Endpoint
	// Timeout bounds one answer. Default 30 s.
	Timeout time.Duration
	// Concurrency is how many requests are answered at a time, Waiting how
	// many more may wait; any beyond are refused at once. Defaults 4 and 16.
	Concurrency, Waiting int
	// MaxPayload bounds a request, in bytes. Default 256 KiB.
	MaxPayload int
}

// Responder answers requests.
type Responder interface {
	// Respond answers until ctx ends, and returns its error, or why it cannot
	// answer. Several responders of one name share the requests.
	Respond(ctx context.Context, s Service) error
}

// Requester makes requests.
type Requester interface {
	// Request returns the answer's payload. It returns a *Refusal,
	// ErrNoResponder where nobody answers such requests, ErrDenied, ctx's
	// error, or the transport's.
	Request(ctx context.Context, subject string, payload []byte) ([]byte, error)
}
