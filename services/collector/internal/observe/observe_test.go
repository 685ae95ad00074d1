package observe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
)

// fake is a target and an outbox. Inside a synctest bubble its scrapes take
// as long as they say.
type fake struct {
	takes  time.Duration
	answer func(n int) (sample.Snapshot, error)
	putErr error

	running, most int
	began         []time.Duration // since start
	start         time.Time
	stored        []event.Event
	taken         []time.Time
}

func (f *fake) Scrape(ctx context.Context) (sample.Snapshot, error) {
	f.running++
	f.most = max(f.most, f.running)
	defer func() { f.running-- }()
	f.began = append(f.began, time.Since(f.start))
	if !pause.For(ctx, f.takes) {
		return sample.Snapshot{}, &failure.Error{Reason: failure.Cancelled, Err: ctx.Err()}
	}
	return f.answer(len(f.began))
}

func (f *fake) Put(_ outbox.Source, taken time.Time, e event.Event) (uint64, error) {
	if f.putErr != nil {
		return 0, f.putErr
	}
	f.stored = append(f.stored, e)
	f.taken = append(f.taken, taken)
	return uint64(len(f.stored)), nil
}

func one(int) (sample.Snapshot, error) {
	return sample.Snapshot{Samples: []schemas.Sample{{Name: "v", Value: 1}}}, nil
}

func fail(int) (sample.Snapshot, error) {
	return sample.Snapshot{}, &failure.Error{Reason: failure.Timeout, Err: errors.New("no answer")}
}

type fixture struct {
	source   *Source
	fake     *fake
	log      *bytes.Buffer
	spans    *tracetest.InMemoryExporter
	registry *prometheus.Registry
}

func newFixture(f *fake) *fixture {
	x := &fixture{fake: f, log: &bytes.Buffer{}, spans: tracetest.NewInMemoryExporter(), registry: prometheus.NewRegistry()}
	f.start = time.Now()
	x.source = New(Options{
		Source:   outbox.Source{Cluster: "c", Name: "node"},
		Interval: 10 * time.Second,
		Scraper:  f,
		Outbox:   f,
		Metrics:  NewMetrics(x.registry),
		Tracer:   sdktrace.NewTracerProvider(sdktrace.WithSyncer(x.spans)).Tracer("test"),
		Log:      slog.New(slog.NewTextHandler(x.log, nil)),
	})
	return x
}

// runFor runs the source for a time, inside a bubble.
func (x *fixture) runFor(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := x.source.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run returns %v", err)
	}
}

// counter returns the value of the counter that has all these label values.
func (x *fixture) counter(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	families, err := x.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			if family.GetName() == name && cmp.Equal(values, labels) {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

func TestEveryInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(&fake{takes: time.Second, answer: one})
		x.runFor(t, 105*time.Second)
		if n := len(x.fake.stored); n < 10 || n > 11 {
			t.Errorf("%d snapshots in 105 s, want 10 or 11", n)
		}
		if first := x.fake.began[0]; first > maxStartDelay {
			t.Errorf("the first scrape began after %v", first)
		}
		for i := 1; i < len(x.fake.began); i++ {
			if gap := x.fake.began[i] - x.fake.began[i-1]; gap != 10*time.Second {
				t.Errorf("scrape %d began %v after the one before", i, gap)
			}
			if !x.fake.taken[0].Equal(x.fake.start.Add(x.fake.began[0])) {
				t.Error("a snapshot is not as old as its scrape's start")
			}
		}
	})
}

func TestSlowTargetDoesNotPileUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(&fake{takes: 25 * time.Second, answer: one})
		x.runFor(t, 104*time.Second)
		if x.fake.most != 1 || len(x.fake.stored) != 4 {
			t.Errorf("%d scrapes at a time, %d snapshots, want 1 and 4", x.fake.most, len(x.fake.stored))
		}
	})
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := func(n int) (sample.Snapshot, error) {
			if n < 6 {
				return fail(n)
			}
			return one(n)
		}
		x := newFixture(&fake{answer: answer})
		x.runFor(t, 155*time.Second)
		var gaps []time.Duration
		for i := 1; i < len(x.fake.began); i++ {
			gaps = append(gaps, x.fake.began[i]-x.fake.began[i-1])
		}
		const s = time.Second
		if want := []time.Duration{10 * s, 20 * s, 30 * s, 30 * s, 30 * s, 10 * s, 10 * s}; !cmp.Equal(gaps[:len(want)], want) {
			t.Errorf("gaps are %v, want %v", gaps, want)
		}
		if len(x.fake.stored) != len(x.fake.began)-5 {
			t.Errorf("%d snapshots of %d scrapes, 5 of which failed", len(x.fake.stored), len(x.fake.began))
		}
		if n := strings.Count(x.log.String(), "level=WARN"); n != 1 || !strings.Contains(x.log.String(), "taken again") {
			t.Errorf("want one warning and the end of it: %s", x.log)
		}
		if got := x.counter(t, "spokewire_collector_scrapes_total", "Timeout", "node"); got != 5 {
			t.Errorf("%v failed scrapes are counted, want 5", got)
		}
	})
}

func TestPauseIsBounded(t *testing.T) {
	t.Parallel()
	for interval, want := range map[time.Duration]time.Duration{time.Second: maxBackoff, time.Hour: time.Hour} {
		s := &Source{Options: Options{Interval: interval}}
		if got := s.pause(1_000_000); got != want {
			t.Errorf("interval %v: %v after many failures, want %v", interval, got, want)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer func(int) (sample.Snapshot, error)
		putErr error
		want   string
	}{
		"good":   {answer: one, want: "1 samples"},
		"failed": {answer: fail, want: "no snapshot (Timeout): no answer"},
		"full":   {answer: one, putErr: errors.New("no space left"), want: "no snapshot (NotStored): no space left"},
		"refused by the bus": {
			answer: func(int) (sample.Snapshot, error) {
				return sample.Snapshot{Samples: []schemas.Sample{{Name: "a b"}}}, nil
			},
			want: "no snapshot (NotStored): ",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newFixture(&fake{answer: tt.answer, putErr: tt.putErr})
			if got := x.source.Status(); got != "not scraped yet" {
				t.Errorf("status is %q before", got)
			}
			err := x.source.observe(t.Context())
			if got := x.source.Status(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("status is %q, want %q", got, tt.want)
			}
			if (err == nil) != (len(x.fake.stored) == 1) {
				t.Errorf("error is %v, %d stored", err, len(x.fake.stored))
			}
		})
	}
}

func TestTraceBeginsInTheEvent(t *testing.T) {
	t.Parallel()
	x := newFixture(&fake{answer: one})
	if err := x.source.observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := x.spans.GetSpans()
	if len(spans) != 1 || spans[0].Name != "collector.observe" || spans[0].Parent.IsValid() {
		t.Fatalf("spans are %+v", spans)
	}
	want := fmt.Sprintf("00-%s-%s-01", spans[0].SpanContext.TraceID(), spans[0].SpanContext.SpanID())
	if got := x.fake.stored[0].Extensions()[events.ExtTraceParent]; got != want {
		t.Errorf("traceparent is %v, want %s", got, want)
	}
	failing := newFixture(&fake{answer: fail})
	_ = failing.source.observe(t.Context())
	if spans := failing.spans.GetSpans(); len(spans) != 1 || spans[0].Status.Code != codes.Error {
		t.Errorf("spans are %+v", spans)
	}
}

func TestLeftOutSeries(t *testing.T) {
	t.Parallel()
	answer := func(int) (sample.Snapshot, error) {
		s, err := one(0)
		s.Left = []sample.Left{
			{Reason: sample.NotFinite, Count: 2, Example: "a is NaN"},
			{Reason: sample.NotKept, Count: 3},
		}
		return s, err
	}
	x := newFixture(&fake{answer: answer})
	for range 3 {
		if err := x.source.observe(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(x.log.String(), "level=WARN"); n != 1 || !strings.Contains(x.log.String(), `example="a is NaN"`) {
		t.Errorf("want one warning with the example: %s", x.log)
	}
	if got := x.source.Status(); !strings.HasSuffix(got, "samples; 2 left out (NotFinite): a is NaN") {
		t.Errorf("status is %q", got)
	}
	for outcome, want := range map[string]float64{"NotFinite": 6, "NotKept": 9, "Kept": 3} {
		if got := x.counter(t, "spokewire_collector_samples_total", outcome, "node"); got != want {
			t.Errorf("%s counts %v, want %v", outcome, got, want)
		}
	}
}
