package flap

import (
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// recordings are answers of the query_range API of four real Prometheus
// servers 2.42, each asked about itself and merged into one answer, with the
// numbers cut to six digits. They were under queries of uneven number; the
// third did nothing but answer for some two minutes, which shows in cpu.
//
//go:embed recorded/*.json
var recordings embed.FS

// recording is one of them, and what its values are worth: those from worst
// to best become 0 to 100, as the scorer's linear does.
type recording struct {
	name, query string
	worst, best float64
}

func recorded() []recording {
	return []recording{
		{"heap", "go_memstats_heap_inuse_bytes", 36e6, 12e6},
		{"scrape", "scrape_duration_seconds", 0.05, 0},
		{"cpu", "rate(process_cpu_seconds_total[10s])", 0.2, 0},
	}
}

// Recorded reads the recorded traces.
func Recorded() ([]Trace, error) {
	var all []Trace
	for _, r := range recorded() {
		text, err := recordings.ReadFile("recorded/" + r.name + ".json")
		if err != nil {
			return nil, err
		}
		t, err := readRecording(text, r)
		if err != nil {
			return nil, fmt.Errorf("recorded/%s.json: %w", r.name, err)
		}
		all = append(all, *t)
	}
	return all, nil
}

// answer is the part of Prometheus' answer that is read.
type answer struct {
	Data struct {
		ResultType string `json:"resultType"`
		Result     []struct {
			Values [][2]json.RawMessage `json:"values"`
		} `json:"result"`
	} `json:"data"`
}

func readRecording(text []byte, r recording) (*Trace, error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	if a.Data.ResultType != "matrix" || len(a.Data.Result) < 2 {
		return nil, fmt.Errorf("is a %q of %d series, want a matrix of two or more", a.Data.ResultType, len(a.Data.Result))
	}
	t := &Trace{Name: KindRecorded + "-" + r.name, Kind: KindRecorded, Every: recordedEvery}
	var series []map[int64]float64
	first, last := int64(0), int64(math.MaxInt64)
	for i := range a.Data.Result {
		values, from, to, err := pointsOf(a.Data.Result[i].Values)
		if err != nil {
			return nil, err
		}
		series, first, last = append(series, values), max(first, from), min(last, to)
	}
	for _, values := range series {
		worth := resample(values, first, last, r)
		seen := make([]int32, len(worth))
		for i, v := range worth {
			seen[i] = int32(math.Round(v))
		}
		t.Seen, t.Truth = append(t.Seen, seen), append(t.Truth, smooth(worth))
	}
	return t, nil
}

const recordedEvery = 2 * time.Second

func pointsOf(values [][2]json.RawMessage) (points map[int64]float64, first, last int64, err error) {
	points, first = map[int64]float64{}, math.MaxInt64
	for _, v := range values {
		var at int64
		var text string
		if err := json.Unmarshal(v[0], &at); err != nil {
			return nil, 0, 0, err
		}
		if err := json.Unmarshal(v[1], &text); err != nil {
			return nil, 0, 0, err
		}
		if points[at], err = strconv.ParseFloat(text, 64); err != nil {
			return nil, 0, 0, err
		}
		first, last = min(first, at), max(last, at)
	}
	return points, first, last, nil
}

// resample takes the last known value at each step, as a score.
func resample(values map[int64]float64, first, last int64, r recording) []float64 {
	var out []float64
	value := values[first]
	for at := first; at <= last; at += int64(recordedEvery.Seconds()) {
		if v, known := values[at]; known {
			value = v
		}
		out = append(out, min(100, max(0, 100*(value-r.worst)/(r.best-r.worst))))
	}
	return out
}

// smooth is the mean of the minute around each sample: what a cluster was
// worth then, as far as anybody can say.
func smooth(worth []float64) []float64 {
	const around = 15
	out := make([]float64, len(worth))
	for i := range worth {
		part := worth[max(0, i-around):min(len(worth), i+around+1)]
		for _, v := range part {
			out[i] += v / float64(len(part))
		}
	}
	return out
}
