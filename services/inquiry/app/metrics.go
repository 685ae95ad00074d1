package app

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/pkg/events"
)

type telemetry struct {
	answers *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

func newTelemetry(r prometheus.Registerer) (*telemetry, error) {
	t := &telemetry{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokewire_inquiry_answers_total", Help: "Questions that were answered, by kind and by code: 200, or that of the refusal.",
		}, []string{"question", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "spokewire_inquiry_answer_seconds", Help: "How long an answer took, by kind.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"question"}),
	}
	return t, errors.Join(r.Register(t.answers), r.Register(t.seconds))
}

// counted wraps the endpoints.
func (t *telemetry) counted(list []events.Endpoint) []events.Endpoint {
	out := make([]events.Endpoint, len(list))
	for i, e := range list {
		inner := e.Answer
		e.Answer = func(ctx context.Context, payload []byte) ([]byte, error) {
			began := time.Now()
			answer, err := inner(ctx, payload)
			t.seconds.WithLabelValues(e.Name).Observe(time.Since(began).Seconds())
			t.answers.WithLabelValues(e.Name, codeOf(err)).Inc()
			return answer, err
		}
		out[i] = e
	}
	return out
}

func codeOf(err error) string {
	var refusal *events.Refusal
	switch {
	case err == nil:
		return "200"
	case errors.As(err, &refusal):
		return strconv.Itoa(refusal.Code)
	}
	return strconv.Itoa(events.RefusedFailed)
}
