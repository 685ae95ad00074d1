package receive

import (
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
)

// RemoteWritePath is where Prometheus writes to.
const RemoteWritePath = "/api/v1/write"

const (
	nameLabel = "__name__"
	protoV2   = "io.prometheus.write.v2.Request"
	protoV1   = "prometheus.WriteRequest"
)

// remoteWrite takes version 1 and 2 of the protocol. A sender repeats what is
// answered by 429 and 5xx, and drops what is answered by 400.
func (r *Receiver) remoteWrite(w http.ResponseWriter, request *http.Request) {
	media, params, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
	proto := params["proto"]
	if proto == "" {
		proto = protoV1
	}
	if err != nil || media != "application/x-protobuf" || proto != protoV1 && proto != protoV2 {
		r.refuse(w, http.StatusUnsupportedMediaType, "the Content-Type is %.100q, want application/x-protobuf of remote write 1 or 2", request.Header.Get("Content-Type"))
		return
	}
	if encoding := request.Header.Get("Content-Encoding"); encoding != "snappy" {
		r.refuse(w, http.StatusUnsupportedMediaType, "the Content-Encoding is %.50q, want snappy", encoding)
		return
	}
	body, ok := r.body(w, request)
	if !ok {
		return
	}
	text, err := r.unsnap(body)
	if err != nil {
		r.refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	var read written
	if proto == protoV2 {
		read, err = readV2(text)
	} else {
		read, err = readV1(text)
	}
	if err != nil {
		r.refuse(w, http.StatusBadRequest, "the request cannot be read: %.300v", err)
		return
	}
	r.written(w, proto, read)
}

// written is what a request holds.
type written struct {
	points     []point
	histograms int
	example    string // of a native histogram
}

func (r *Receiver) written(w http.ResponseWriter, proto string, read written) {
	refused := r.store.put(read.points, r.now())
	if read.histograms > 0 {
		r.store.note(unmatched, read.example+" is a native histogram: send classic ones too, or name rules that make numbers of it")
	}
	if proto == protoV2 {
		w.Header().Set("X-Prometheus-Remote-Write-Samples-Written", strconv.Itoa(len(read.points)-refused))
		w.Header().Set("X-Prometheus-Remote-Write-Histograms-Written", "0")
		w.Header().Set("X-Prometheus-Remote-Write-Exemplars-Written", "0")
	}
	if refused > 0 {
		r.refuse(w, http.StatusBadRequest, "%d samples are left out: the source holds limits.samples series already; send fewer (write_relabel_configs), or set keep", refused)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// unsnap unpacks a body that says how long it will be.
func (r *Receiver) unsnap(body []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(body)
	if err != nil {
		return nil, fmt.Errorf("the body is not snappy: %w", err)
	}
	if int64(n) > r.source.Limits.BodyBytes {
		return nil, fmt.Errorf("the body is %d bytes unpacked, at most limits.bodyBytes, %d, are taken: lower max_samples_per_send", n, r.source.Limits.BodyBytes)
	}
	text, err := snappy.Decode(nil, body)
	if err != nil {
		return nil, fmt.Errorf("the body is not snappy: %w", err)
	}
	return text, nil
}

func readV1(text []byte) (w written, err error) {
	var request prompb.WriteRequest
	if err := request.Unmarshal(text); err != nil {
		return w, err
	}
	if len(request.Timeseries) > maxPoints {
		return w, errTooLong
	}
	for i := range request.Timeseries {
		series := &request.Timeseries[i]
		labels := make(map[string]string, len(series.Labels))
		for _, l := range series.Labels {
			labels[l.Name] = l.Value
		}
		name, err := nameOf(labels)
		if err != nil {
			return w, err
		}
		if len(series.Histograms) > 0 {
			w.histograms, w.example = w.histograms+len(series.Histograms), name
		}
		if n := len(series.Samples); n > 0 {
			w.add(name, labels, series.Samples[n-1].Value, series.Samples[n-1].Timestamp, "")
		}
	}
	return w, nil
}

func readV2(text []byte) (w written, err error) {
	var request writev2.Request
	if err := request.Unmarshal(text); err != nil {
		return w, err
	}
	if len(request.Timeseries) > maxPoints {
		return w, errTooLong
	}
	symbol := func(i uint32) (string, error) {
		if int(i) >= len(request.Symbols) {
			return "", fmt.Errorf("symbol %d is none of %d", i, len(request.Symbols))
		}
		return request.Symbols[i], nil
	}
	for i := range request.Timeseries {
		series := &request.Timeseries[i]
		if len(series.LabelsRefs)%2 != 0 {
			return w, errors.New("labels_refs are not pairs")
		}
		labels := make(map[string]string, len(series.LabelsRefs)/2)
		for j := 0; j < len(series.LabelsRefs); j += 2 {
			name, err1 := symbol(series.LabelsRefs[j])
			text, err2 := symbol(series.LabelsRefs[j+1])
			if err := errors.Join(err1, err2); err != nil {
				return w, err
			}
			labels[name] = text
		}
		name, err := nameOf(labels)
		if err != nil {
			return w, err
		}
		unit, err := symbol(series.Metadata.UnitRef)
		if err != nil && series.Metadata.UnitRef != 0 {
			return w, err
		}
		if len(series.Histograms) > 0 {
			w.histograms, w.example = w.histograms+len(series.Histograms), name
		}
		if n := len(series.Samples); n > 0 {
			w.add(name, labels, series.Samples[n-1].Value, series.Samples[n-1].Timestamp, unit)
		}
	}
	return w, nil
}

// nameOf takes the name out of labels.
func nameOf(labels map[string]string) (string, error) {
	name := labels[nameLabel]
	if name == "" {
		return "", fmt.Errorf("a series has no %s", nameLabel)
	}
	delete(labels, nameLabel)
	return name, nil
}

var errTooLong = fmt.Errorf("it holds more than %d series: lower max_samples_per_send", maxPoints)

// add takes one sample. Samples of a series follow each other in time, and the
// last one counts.
func (w *written) add(name string, labels map[string]string, v float64, millis int64, unit string) {
	w.points = append(w.points, point{name: name, labels: labels, value: v, unit: unit, nanos: millis * int64(time.Millisecond), gone: math.IsNaN(v) && value.IsStaleNaN(v)})
}
