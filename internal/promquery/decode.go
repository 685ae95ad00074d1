package promquery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/fetch"
)

// Paths of the API.
const (
	instantPath = "/api/v1/query"
	rangePath   = "/api/v1/query_range"
)

// maxQuote bounds what an error quotes of an answer.
const maxQuote = 300

// document is an answer of the API.
type document struct {
	Status    string   `json:"status"`
	ErrorType string   `json:"errorType"`
	Error     string   `json:"error"`
	Warnings  []string `json:"warnings"`
	Data      struct {
		Type   string          `json:"resultType"`
		Result json.RawMessage `json:"result"`
	} `json:"data"`
}

// decode reads an answer with at most maxSeries series. Every error is a
// *failure.Error.
func decode(answer fetch.Answer, body []byte, maxSeries int) (Result, error) {
	media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if media != "application/json" {
		if err := answer.OK(); err != nil {
			return Result{}, err
		}
		return Result{}, failure.Newf(failure.BadType, "the Content-Type is %.100q, want application/json: is url that of a Prometheus API?", answer.Header.Get("Content-Type"))
	}
	var d document
	err := json.Unmarshal(body, &d)
	switch {
	case err != nil && answer.Code != http.StatusOK:
		return Result{}, answer.OK()
	case err != nil:
		return Result{}, failure.Newf(failure.BadAnswer, "the answer cannot be read: %.*s", maxQuote, err)
	case d.Status == "error":
		return Result{}, failure.Newf(failure.Refused, "the server refuses the query (%.50s): %.*s", d.ErrorType, maxQuote, d.Error)
	case d.Status != "success":
		return Result{}, failure.Newf(failure.BadAnswer, "the answer's status is %.50q, want success: is url that of a Prometheus API?", d.Status)
	}
	r, err := decodeResult(d.Data.Type, d.Data.Result, maxSeries)
	r.Warnings = d.Warnings
	return r, err
}

func decodeResult(kind string, result json.RawMessage, maxSeries int) (Result, error) {
	switch kind {
	case "vector", "matrix":
		return decodeSeries(result, maxSeries)
	case "scalar":
		var p Point
		if err := json.Unmarshal(result, &p); err != nil {
			return Result{}, failure.Newf(failure.BadAnswer, "the scalar cannot be read: %.*s", maxQuote, err)
		}
		return Result{Series: []Series{{Points: []Point{p}}}}, nil
	}
	return Result{}, failure.Newf(failure.BadAnswer, "the result is a %.50q, want numbers", kind)
}

// element is a series of a vector or of a matrix.
type element struct {
	Metric     map[string]string `json:"metric"`
	Value      *Point            `json:"value"`
	Values     []Point           `json:"values"`
	Histogram  json.RawMessage   `json:"histogram"`
	Histograms json.RawMessage   `json:"histograms"`
}

func decodeSeries(result json.RawMessage, maxSeries int) (Result, error) {
	var r Result
	fail := func(err error) (Result, error) {
		return Result{}, failure.Newf(failure.BadAnswer, "series %d of the result cannot be read: %.*s", len(r.Series)+r.Histograms, maxQuote, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(result))
	if open, err := decoder.Token(); err != nil || open != json.Delim('[') {
		return fail(fmt.Errorf("the result is no list (%v, %w)", open, err))
	}
	for decoder.More() {
		var e element
		if err := decoder.Decode(&e); err != nil {
			return fail(err)
		}
		points := e.Values
		if e.Value != nil {
			points = append(points, *e.Value)
		}
		if len(points) == 0 {
			if e.Histogram == nil && e.Histograms == nil {
				return fail(errors.New("it has no value"))
			}
			r.Histograms++
			continue
		}
		r.Series = append(r.Series, Series{Labels: e.Metric, Points: points})
		if err := tooMany(len(r.Series), maxSeries); err != nil {
			return Result{}, err
		}
	}
	return r, nil
}

// UnmarshalJSON reads [SECONDS, "VALUE"].
func (p *Point) UnmarshalJSON(data []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("a point has %d parts, want a time and a value", len(pair))
	}
	var seconds float64
	var value string
	if err := errors.Join(json.Unmarshal(pair[0], &seconds), json.Unmarshal(pair[1], &value)); err != nil {
		return err
	}
	if math.Abs(seconds) > maxSeconds {
		return fmt.Errorf("the time %v is none", seconds)
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // beyond the largest it is infinite
		return fmt.Errorf("the value %.50q is no number", value)
	}
	p.Time, p.Value = time.UnixMilli(int64(math.Round(seconds*1000))).UTC(), number
	return nil
}

// maxSeconds is a time that milliseconds can hold, and no clock shows.
const maxSeconds = 1e12
