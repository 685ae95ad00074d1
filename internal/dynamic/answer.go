package dynamic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Bounds of an answer.
const (
	MaxAnswer  = 4 << 20 // in bytes
	MaxResults = 10_000
	maxLabels  = 64
	maxLabel   = 256 // of a value, in bytes, as upstream cuts it in its metric
)

// Result is one score that a scoring API gave.
type Result struct {
	// Metric has the labels by which results are told apart.
	Metric map[string]string
	// Score is the number, where Problem is nil.
	Score float64
	// Problem is why there is no number.
	Problem *Failure
}

// DecodeAnswer reads what a scoring API answered to a post. A result that is
// no good has a Problem and spoils no other; only what is no answer at all is
// a Failure. NaN and Infinity, which JSON does not have but which some
// libraries write, spoil their own results alone.
func DecodeAnswer(body []byte) ([]Result, *Failure) {
	body = quoteNonNumbers(body)
	if f := checkJSON(body); f != nil {
		return nil, f
	}
	var answer struct {
		Results *[]json.RawMessage `json:"results"`
	}
	err := json.Unmarshal(body, &answer)
	switch {
	case err != nil:
		return nil, Failf(BadAnswer, "the answer is not {\"results\":[…]}: %s", start(body))
	case answer.Results == nil:
		return nil, Failf(BadAnswer, "the answer has no results: %s", start(body))
	case len(*answer.Results) > MaxResults:
		return nil, Failf(TooManyResults, "the answer has %d results, at most %d are taken", len(*answer.Results), MaxResults)
	}
	results := make([]Result, len(*answer.Results))
	for i, raw := range *answer.Results {
		results[i] = decodeResult(i, raw)
	}
	return results, nil
}

// checkJSON says what body is, where it is no JSON.
func checkJSON(body []byte) *Failure {
	trimmed := bytes.TrimSpace(body)
	switch {
	case len(trimmed) == 0:
		return Failf(EmptyAnswer, "the answer is empty")
	case trimmed[0] == '<':
		return Failf(NotJSON, "the answer is a page of HTML or XML, not JSON: %s", start(trimmed))
	case !json.Valid(body):
		return Failf(NotJSON, "the answer is not JSON: %s", start(trimmed))
	}
	return nil
}

// start shows how body begins.
func start(body []byte) string {
	return fmt.Sprintf("%.80q", cut(string(body[:min(len(body), 400)]), 80))
}

func decodeResult(i int, raw json.RawMessage) Result {
	var in struct {
		Metric map[string]any  `json:"metric"`
		Score  json.RawMessage `json:"score"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return Result{Problem: Failf(BadAnswer, "results[%d] is %s, want {\"metric\":{},\"score\":1.0}", i, start(raw))}
	}
	r := Result{Metric: labels(in.Metric)}
	var err error
	if r.Score, err = number(in.Score); err != nil {
		r.Problem = Failf(NotANumber, "results[%d].score %v", i, err)
	}
	return r
}

// labels takes what a metric says as text. Upstream knows texts only; a
// number or a flag is taken as it is written.
func labels(in map[string]any) map[string]string {
	out := make(map[string]string, min(len(in), maxLabels))
	for name, value := range in {
		if len(out) == maxLabels {
			break
		}
		switch v := value.(type) {
		case string:
			out[name] = cut(v, maxLabel)
		case json.Number:
			out[name] = cut(v.String(), maxLabel)
		case bool:
			out[name] = strconv.FormatBool(v)
		}
	}
	return out
}

// number reads a score.
func number(raw json.RawMessage) (float64, error) {
	switch {
	case len(raw) == 0:
		return 0, errors.New("is missing")
	case bytes.Equal(raw, []byte("null")):
		return 0, errors.New("is null")
	case raw[0] == '"':
		return 0, fmt.Errorf("is the text %s, want a number", start(raw))
	case raw[0] != '-' && (raw[0] < '0' || raw[0] > '9'):
		return 0, fmt.Errorf("is %s, want a number", start(raw))
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsInf(n, 0) {
		return 0, fmt.Errorf("is %s, which no number holds", start(raw))
	}
	return n, nil
}

// Quoted is an answer as JSON that every reader takes; see DecodeAnswer.
func Quoted(answer []byte) []byte { return quoteNonNumbers(answer) }

// quoteNonNumbers puts quotes around NaN, Infinity and -Infinity outside of
// strings. What holds none is returned as it is.
func quoteNonNumbers(body []byte) []byte {
	if !bytes.Contains(body, []byte("NaN")) && !bytes.Contains(body, []byte("Infinity")) {
		return body
	}
	out := make([]byte, 0, len(body)+16)
	inString := false
	for i := 0; i < len(body); i++ {
		c := body[i]
		if inString {
			out = append(out, c)
			switch {
			case c == '\\' && i+1 < len(body):
				i++
				out = append(out, body[i])
			case c == '"':
				inString = false
			}
			continue
		}
		if word := nonNumber(body[i:]); word != "" {
			out = append(append(append(out, '"'), word...), '"')
			i += len(word) - 1
			continue
		}
		inString = c == '"'
		out = append(out, c)
	}
	return out
}

func nonNumber(rest []byte) string {
	for _, word := range []string{"NaN", "-Infinity", "Infinity"} {
		if bytes.HasPrefix(rest, []byte(word)) {
			return word
		}
	}
	return ""
}
