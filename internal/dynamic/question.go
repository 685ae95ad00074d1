package dynamic

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Bounds of what a collector finds out.
const (
	// MaxSeries and MaxValues are those of all queries of a scorer together.
	MaxSeries = 5_000
	MaxValues = 200_000
	// maxFinding is in bytes, unpacked.
	maxFinding = 16 << 20
)

// Question is what a cluster's collector is asked to find out there: what the
// queries of a scorer yield, or, with an API, what the scoring API in the
// cluster makes of that.
type Question struct {
	// Scorer is NAMESPACE/NAME, for messages.
	Scorer string          `json:"scorer"`
	Source *QuestionSource `json:"source,omitempty"`
	API    *QuestionAPI    `json:"api,omitempty"`
}

// QuestionSource is a query of the cluster's Prometheus: over Range in steps of
// Step, in seconds, up to its now, or, where Range is 0, at its now. Tokens are
// files of the collector's.
type QuestionSource struct {
	URL     string            `json:"url"`
	Token   *schemas.TokenRef `json:"token,omitempty"`
	Queries []string          `json:"queries"`
	Range   int64             `json:"range,omitempty"`
	Step    int64             `json:"step,omitempty"`
}

// QuestionAPI is a scoring API in the cluster.
type QuestionAPI struct {
	URL   string            `json:"url"`
	Token *schemas.TokenRef `json:"token,omitempty"`
}

// Question is what s has to find out in each cluster, nil for nothing.
func (s *Scorer) Question(scorer string) *Question {
	if s.Source == nil && !s.Internal {
		return nil
	}
	q := &Question{Scorer: scorer}
	if s.Source != nil {
		q.Source = &QuestionSource{
			URL: s.Source.URL, Token: s.Source.Token, Queries: s.Source.Queries,
			Range: int64(s.Source.Range / time.Second), Step: int64(s.Source.Step / time.Second),
		}
	}
	if s.Internal {
		q.API = &QuestionAPI{URL: s.URL, Token: s.Token}
	}
	return q
}

// DecodeQuestion reads a question, and says which field makes no sense.
func DecodeQuestion(data []byte) (*Question, *Failure) {
	var q Question
	if err := json.Unmarshal(data, &q); err != nil {
		return nil, Failf(BadConfig, "the question cannot be read: %v", err)
	}
	if q.Source == nil && q.API == nil {
		return nil, Failf(BadConfig, "the question has neither source nor api")
	}
	if q.API != nil {
		if _, f := endpoint("api.url", q.API.URL); f != nil {
			return nil, f
		}
	}
	if q.Source == nil {
		return &q, nil
	}
	if _, f := endpoint("source.url", q.Source.URL); f != nil {
		return nil, f
	}
	s := Source{Queries: q.Source.Queries, Range: seconds(q.Source.Range), Step: seconds(q.Source.Step)}
	return &q, s.check(schemas.DynamicSourceParams{Range: q.Source.Range, Step: q.Source.Step})
}

// Series is what a scoring API is given of one: labels, and the values over
// time.
type Series struct {
	Metric map[string]string `json:"metric"`
	Values []Value           `json:"values"`
}

// Value is one of a series, as Prometheus writes it: [SECONDS, "TEXT"].
type Value struct {
	Seconds float64
	Text    string
}

// MarshalJSON writes [SECONDS, "TEXT"].
func (v Value) MarshalJSON() ([]byte, error) {
	out := append([]byte{'['}, strconv.FormatFloat(v.Seconds, 'f', -1, 64)...)
	return append(append(append(out, ',', '"'), v.Text...), '"', ']'), nil
}

// UnmarshalJSON reads it. The text is a number, NaN or infinite, else it is an
// error.
func (v *Value) UnmarshalJSON(data []byte) error {
	inside, isList := bytes.CutPrefix(bytes.TrimSpace(data), []byte{'['})
	inside, closed := bytes.CutSuffix(inside, []byte{']'})
	seconds, text, both := bytes.Cut(inside, []byte{','})
	text = bytes.TrimSpace(text)
	if !isList || !closed || !both || len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return fmt.Errorf("the value %.50q is not [SECONDS, \"TEXT\"]", data)
	}
	var err error
	if v.Seconds, err = strconv.ParseFloat(string(bytes.TrimSpace(seconds)), 64); err != nil {
		return fmt.Errorf("the time %.50q is none", seconds)
	}
	v.Text = string(text[1 : len(text)-1]) // of a number, so without escapes
	if _, err := strconv.ParseFloat(v.Text, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("the value %.50q is no number", v.Text)
	}
	return nil
}

// Request is what a scoring API is posted of series; of none (nil) it is
// {"data":null}.
func Request(series []Series) ([]byte, *Failure) {
	body, err := json.Marshal(struct {
		Data []Series `json:"data"`
	}{series})
	if err != nil {
		return nil, Failf(BadAnswer, "the series cannot be posted: %v", err)
	}
	return body, nil
}

// Finding is what a collector found out: the series, or what the cluster's
// scoring API answered to them, or why there is neither.
type Finding struct {
	Series list            `json:"series,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
	// Read says what the series were read from, for people.
	Read    string   `json:"read,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// findingReasons are what a collector may call a failure.
var findingReasons = []string{
	BadConfig, TokenMissing, Forbidden, Unreachable, Timeout, BadStatus, TooLarge, NotJSON, EmptyAnswer, BadAnswer,
	QueryRefused, NoData, TooManySeries,
}

// Encode packs the finding.
func (f *Finding) Encode() ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	err := errors.Join(json.NewEncoder(w).Encode(f), w.Close())
	return packed.Bytes(), err
}

// DecodeFinding unpacks a finding. What a cluster says is not trusted: it is
// held to the bounds, and a reason that nobody knows is BadAnswer.
func DecodeFinding(data []byte) (*Finding, *Failure) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, Failf(BadAnswer, "the collector's answer cannot be unpacked: %v", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFinding+1))
	if err != nil {
		return nil, Failf(BadAnswer, "the collector's answer cannot be unpacked: %v", err)
	}
	if len(text) > maxFinding {
		return nil, Failf(TooLarge, "the collector's answer has more than %d bytes", maxFinding)
	}
	var f Finding
	if err := json.Unmarshal(text, &f); err != nil {
		if bound := new(Failure); errors.As(err, &bound) {
			return nil, bound
		}
		return nil, Failf(BadAnswer, "the collector's answer cannot be read: %v", err)
	}
	if len(f.Answer) > 2*MaxAnswer { // quotes make one longer
		return nil, Failf(TooLarge, "the answer of the cluster's scoring API has %d bytes", len(f.Answer))
	}
	if f.Failure != nil {
		if !slices.Contains(findingReasons, f.Failure.Reason) {
			f.Failure.Reason = BadAnswer
		}
		return nil, Failf(f.Failure.Reason, "in the cluster: %s", f.Failure.Message)
	}
	f.Read = cut(f.Read, maxLabel)
	return &f, nil
}

// CheckSeries holds series to the bounds of a finding.
func CheckSeries(series []Series) *Failure {
	if len(series) > MaxSeries {
		return Failf(TooManySeries, "the queries have %d series, at most %d are taken: aggregate them", len(series), MaxSeries)
	}
	n := 0
	for _, s := range series {
		n += len(s.Values)
	}
	if n > MaxValues {
		return Failf(TooManySeries, "the queries have %d values, at most %d are taken: aggregate them, or raise source.params.step", n, MaxValues)
	}
	return nil
}
