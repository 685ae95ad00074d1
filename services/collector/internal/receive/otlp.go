package receive

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	metricsv1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// OTLPPath is where OTLP exporters post metrics to.
const OTLPPath = "/v1/metrics"

const (
	mediaProto = "application/x-protobuf"
	mediaJSON  = "application/json"
)

// otlp takes one export, in protobuf or JSON, plain or by gzip.
func (r *Receiver) otlp(w http.ResponseWriter, request *http.Request) {
	media, _, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
	if err != nil || media != mediaProto && media != mediaJSON {
		r.refuse(w, http.StatusUnsupportedMediaType, "the Content-Type is %.100q, want %s or %s", request.Header.Get("Content-Type"), mediaProto, mediaJSON)
		return
	}
	body, ok := r.body(w, request)
	if !ok {
		return
	}
	switch encoding := request.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		if body, err = r.gunzip(body); err != nil {
			r.refuse(w, http.StatusBadRequest, "%v", err)
			return
		}
	default:
		r.refuse(w, http.StatusUnsupportedMediaType, "the Content-Encoding is %.50q, want gzip or none", encoding)
		return
	}
	export := &collectorv1.ExportMetricsServiceRequest{}
	if media == mediaJSON {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, export)
	} else {
		err = proto.Unmarshal(body, export)
	}
	if err != nil {
		r.refuse(w, http.StatusBadRequest, "the export cannot be read: %.300v", err)
		return
	}
	r.exported(w, media, export.GetResourceMetrics())
}

func (r *Receiver) exported(w http.ResponseWriter, media string, metrics []*metricsv1.ResourceMetrics) {
	t := newTranslation()
	for _, m := range metrics {
		t.resource(m)
	}
	refused := r.store.put(t.points, r.now())
	if t.unsupported > 0 {
		r.store.note(unmatched, t.example)
	}
	answer := &collectorv1.ExportMetricsServiceResponse{}
	if rejected := refused + t.unsupported; rejected > 0 {
		message := t.example
		if refused > 0 {
			message = fmt.Sprintf("%d series are left out: the source holds limits.samples already; send fewer, or set keep", refused)
		}
		answer.PartialSuccess = &collectorv1.ExportMetricsPartialSuccess{RejectedDataPoints: int64(rejected), ErrorMessage: message}
	}
	marshal := proto.Marshal
	if media == mediaJSON {
		marshal = protojson.Marshal
	}
	text, err := marshal(answer)
	if err != nil {
		r.refuse(w, http.StatusInternalServerError, "the answer cannot be written: %v", err)
		return
	}
	w.Header().Set("Content-Type", media)
	_, _ = w.Write(text) // to one who may have gone
}

func (r *Receiver) gunzip(body []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the body is not gzip: %w", err)
	}
	limit := r.source.Limits.BodyBytes
	text, err := io.ReadAll(io.LimitReader(z, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the body is not gzip: %w", err)
	case int64(len(text)) > limit:
		return nil, fmt.Errorf("the body has more than limits.bodyBytes, %d, unpacked", limit)
	}
	return text, errors.Join(z.Close())
}
