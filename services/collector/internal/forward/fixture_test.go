package forward

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
)

var (
	alpha = outbox.Source{Cluster: "c.1", Name: "alpha"}
	beta  = outbox.Source{Cluster: "c.1", Name: "beta"}
)

// fixture is an outbox, and a forwarder that is not running yet.
type fixture struct {
	t       testing.TB
	store   *outbox.Store
	metrics *Metrics
	log     *lockedBuffer
	sent    *recorder
	options Options
}

func newFixture(t testing.TB, dir string, bus Publisher) *fixture {
	t.Helper()
	store, err := outbox.Open(dir, outbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	f := &fixture{t: t, store: store, metrics: NewMetrics(prometheus.NewRegistry()), log: &lockedBuffer{}, sent: &recorder{bus: bus}}
	f.options = Options{
		Outbox: store, Bus: f.sent, Connected: func() bool { return true }, Sources: []outbox.Source{alpha, beta},
		BackfillRate: 10_000, AttemptTimeout: time.Second, Metrics: f.metrics, Log: slog.New(slog.NewTextHandler(f.log, nil)),
	}
	return f
}

// run runs the forwarder until the test ends or stop is called.
func (f *fixture) run() (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = New(f.options).Run(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	f.t.Cleanup(stop)
	return stop
}

func (f *fixture) put(source outbox.Source) uint64 {
	f.t.Helper()
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(source.Cluster, source.Name),
		&schemas.Metrics{Samples: []schemas.Sample{{Name: "v", Value: 1}}})
	if err != nil {
		f.t.Fatal(err)
	}
	sequence, err := f.store.Put(source, time.Now(), e)
	if err != nil {
		f.t.Fatal(err)
	}
	return sequence
}

func (f *fixture) waitEmpty() {
	f.t.Helper()
	testwait.Eventually(f.t, "the outbox is empty", func() bool { return f.store.Stats().Depth == 0 })
}

func valueOf(c prometheus.Counter) float64 {
	var m dto.Metric
	_ = c.Write(&m)
	return m.GetCounter().GetValue()
}

// recorder notes what was published, and can refuse it.
type recorder struct {
	bus    Publisher
	refuse func(subject string, e event.Event) error
	// loseAnswers makes that many events stored without telling so.
	loseAnswers int

	mu    sync.Mutex
	lines []string // SUBJECT SEQUENCE
}

func (r *recorder) Publish(ctx context.Context, subject string, e event.Event, opts ...events.PublishOption) (events.Ack, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse != nil {
		if err := r.refuse(subject, e); err != nil {
			return events.Ack{}, err
		}
	}
	ack, err := r.bus.Publish(ctx, subject, e, opts...)
	if err != nil {
		return ack, err
	}
	if r.loseAnswers > 0 {
		r.loseAnswers--
		return events.Ack{}, context.DeadlineExceeded
	}
	r.lines = append(r.lines, subject+" "+sequenceOf(e))
	return ack, nil
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.lines...)
}

func sequenceOf(e event.Event) string {
	n, _ := strconv.Atoi(fmt.Sprint(e.Extensions()[events.ExtSequence]))
	return strconv.Itoa(n)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
