package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// request is what is posted: the answer of Prometheus to a range query. data
// is null where there is nothing.
type request struct {
	Data []series `json:"data"`
}

type series struct {
	Metric map[string]string `json:"metric"`
	Values []point           `json:"values"`
}

// point is a time and a value, which Prometheus writes as text: [1764590400, "0.5"].
type point Sample

func (p *point) UnmarshalJSON(text []byte) error {
	var pair []any
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("values hold %s, want [time, \"value\"]", text)
	}
	var err error
	if p.Time, err = number(pair[0]); err != nil {
		return err
	}
	p.Value, err = number(pair[1])
	return err
}

func number(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case string:
		return strconv.ParseFloat(v, 64)
	}
	return 0, errors.New("values hold what is no number")
}

// response is what is answered. Results without a number are left out.
type response struct {
	Results []result `json:"results"`
}

type result struct {
	Metric map[string]string `json:"metric"`
	Score  float64           `json:"score"`
}

// scoreAll scores each series. What is not finite is no sample, and no score.
func scoreAll(all []series) []result {
	results := make([]result, 0, len(all))
	for _, s := range all {
		past := make([]Sample, 0, len(s.Values))
		for _, p := range s.Values {
			if finite(p.Value) {
				past = append(past, Sample(p))
			}
		}
		score, ok := Score(s.Metric, past)
		if !ok || !finite(score) {
			continue
		}
		metric := s.Metric
		if metric == nil {
			metric = map[string]string{}
		}
		results = append(results, result{metric, score})
	}
	return results
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
