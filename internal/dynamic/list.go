package dynamic

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxMetric bounds the labels of a series, in bytes.
const maxMetric = 16 << 10

// list is series as a collector sends them. They are held to the bounds while
// they are read: a few bytes, packed, may be millions of them. Its errors may be
// *Failure.
type list []Series

// UnmarshalJSON reads [{"metric":{},"values":[[SECONDS,"TEXT"]]}]. What a
// series lacks is empty.
func (l *list) UnmarshalJSON(data []byte) error {
	*l = nil
	room := MaxValues
	return each(data, func(d *json.Decoder) error {
		if len(*l) == MaxSeries {
			return Failf(TooManySeries, "the queries have more than %d series: aggregate them", MaxSeries)
		}
		s, err := decodeSeries(d, room)
		if err != nil {
			return err
		}
		room -= len(s.Values)
		*l = append(*l, s)
		return nil
	})
}

// decodeSeries reads one series, of at most room values.
func decodeSeries(d *json.Decoder, room int) (Series, error) {
	var in struct {
		Metric json.RawMessage `json:"metric"`
		Values json.RawMessage `json:"values"`
	}
	s := Series{Metric: map[string]string{}, Values: []Value{}}
	if err := d.Decode(&in); err != nil {
		return s, err
	}
	if len(in.Metric) > maxMetric {
		return s, Failf(TooLarge, "the labels of a series have %d bytes, at most %d are taken", len(in.Metric), maxMetric)
	}
	if len(in.Metric) > 0 {
		if err := json.Unmarshal(in.Metric, &s.Metric); err != nil {
			return s, err
		}
		if s.Metric == nil { // it was null
			s.Metric = map[string]string{}
		}
	}
	err := each(in.Values, func(d *json.Decoder) error {
		if len(s.Values) == room {
			return Failf(TooManySeries, "the queries have more than %d values: aggregate them, or raise source.params.step", MaxValues)
		}
		var v Value
		err := d.Decode(&v)
		s.Values = append(s.Values, v)
		return err
	})
	return s, err
}

// each has fn read each element of an array. Nothing and null have none.
func each(data []byte, fn func(*json.Decoder) error) error {
	if len(data) == 0 || bytes.Equal(data, []byte("null")) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return fmt.Errorf("it begins with %.20q, want an array", data[:min(len(data), 20)])
	}
	for d.More() {
		if err := fn(d); err != nil {
			return err
		}
	}
	return nil
}
