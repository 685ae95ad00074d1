package checkup

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// log is a bus at noon, with all that was stored.
type log struct {
	t       *testing.T
	bus     *eventstest.Bus
	now     time.Time
	state   *inventory.State
	history []events.Received
}

func newLog(t *testing.T) *log {
	l := &log{t: t, bus: eventstest.NewBus(), now: noon, state: inventory.New()}
	l.bus.SetNow(func() time.Time { return l.now })
	return l
}

func (l *log) put(subject, eventType, source string, payload schemas.Payload, extensions ...string) {
	l.t.Helper()
	e, err := events.New(eventType, source, payload)
	if err != nil {
		l.t.Fatal(err)
	}
	for i := 0; i+1 < len(extensions); i += 2 {
		e.SetExtension(extensions[i], extensions[i+1])
	}
	ack, err := l.bus.Publish(l.t.Context(), subject, e)
	if err != nil {
		l.t.Fatal(err)
	}
	m, err := l.bus.Last(l.t.Context(), ack.Stream, subject)
	if err != nil {
		l.t.Fatal(err)
	}
	l.state.Take(events.Update{Kind: events.Stored, Message: m})
	r, err := events.Read(m)
	if err != nil {
		l.t.Fatal(err)
	}
	l.history = append(l.history, r)
}

// metrics publishes an event of each epoch; "-" is for none.
func (l *log) metrics(source string, epochs ...string) {
	l.t.Helper()
	for _, epoch := range epochs {
		var extensions []string
		if epoch != "-" {
			extensions = []string{events.ExtEpoch, epoch}
		}
		l.put(events.MetricSubject("c", source), schemas.TypeMetricsObserved, events.ClusterSource("c", source),
			&schemas.Metrics{Samples: []schemas.Sample{}}, extensions...)
	}
}

func TestCheckPublishers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		epochs string
		wantOK bool
	}{
		"none":                   {"", true},
		"one":                    {"7 7 7 7", true},
		"a new store":            {"7 7 8 8 8", true},
		"a store put back":       {"7 8 7 7", true},
		"two in turns":           {"7 8 7 8", false},
		"three":                  {"7 8 9 7 8 9", false},
		"without epochs":         {"- - - -", true},
		"one by hand in between": {"7 - 7 7", true},
		"with and without":       {"7 - 7 - 7", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog(t)
			l.metrics("sound", "1", "1", "2")
			l.metrics("odd", strings.Fields(tt.epochs)...)
			f := checkPublishers(History{Events: l.history})
			if f.OK != tt.wantOK || !f.OK && !strings.HasPrefix(f.Detail, "1 of 2 (sw.metric.c.odd) written by two publishers in turns") {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestCutHistoryIsSaid(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.metrics("sound", "1")
	cut := History{Events: l.history, Span: 4 * time.Second, Cut: true}
	judged{true, "1 (looked at the last 4s alone: so many events come"}.check(t, checkPublishers(cut))
	judged{true, "0 (looked at the last 4s alone"}.check(t, checkSchedulers(l.state, cut, noon))
}

func (l *log) decide(schedulers ...string) {
	l.t.Helper()
	for _, scheduler := range schedulers {
		mode := schemas.ModeDirect
		if scheduler == writerOCM {
			mode = schemas.ModeNative
		}
		l.put(events.DecisionSubject(events.KindPlacement, "n", "p"), schemas.TypePlacementDecided, "/test", &schemas.PlacementDecision{
			Placement: schemas.PlacementRef{Namespace: "n", Name: "p", UID: "u"}, Mode: mode, Scheduler: scheduler,
			Clusters: []schemas.SelectedCluster{}, Cause: "Test", Now: l.now,
		})
	}
}

func (l *log) onHub(direct bool, writer string) {
	l.t.Helper()
	ref := schemas.PlacementRef{Namespace: "n", Name: "p", UID: "u"}
	l.put(events.HubSubject(events.KindPlacement, "n", "p"), schemas.TypeHubPlacement, "/test",
		&schemas.Placement{Namespace: "n", Name: "p", UID: "u", Direct: direct, Spec: []byte("{}")})
	l.put(events.HubSubject(events.KindPlacementDecision, "n", "p"), schemas.TypeHubPlacementDecision, "/test",
		&schemas.ObservedDecision{Placement: ref, Writer: writer})
}

func TestCheckSchedulers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		put   func(l *log)
		after time.Duration
		judged
	}{
		"ours":                      {func(l *log) { l.decide("spokewire", "spokewire"); l.onHub(true, "spokewire") }, time.Hour, judged{true, "1"}},
		"OCM's":                     {func(l *log) { l.decide("ocm", "ocm"); l.onHub(false, "ocm") }, time.Hour, judged{true, "1"}},
		"handed over, and back":     {func(l *log) { l.decide("ocm", "spokewire", "ocm") }, time.Hour, judged{true, "1"}},
		"in turns":                  {func(l *log) { l.decide("ocm", "spokewire", "ocm", "spokewire"); l.onHub(true, "spokewire") }, time.Hour, judged{false, "1 of 1 (sw.decision.placement.n.p) decided by Spokewire and by OCM"}},
		"OCM does not heed us":      {func(l *log) { l.onHub(true, "ocm") }, ocmWrites + time.Second, judged{false, "1 of 1 (n/p) decided by Spokewire and by OCM"}},
		"about to be taken over":    {func(l *log) { l.onHub(true, "ocm") }, ocmWrites, judged{true, "1"}},
		"somebody else's, not ours": {func(l *log) { l.onHub(true, "other") }, time.Hour, judged{true, "1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog(t)
			tt.put(l)
			tt.check(t, checkSchedulers(l.state, History{Events: l.history}, noon.Add(tt.after)))
		})
	}
}

func TestCheckBackfill(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		age, since time.Duration
		judged
	}{
		"none of late": {3 * time.Hour, time.Hour, judged{true, "0"}},
		"a short one":  {time.Hour, time.Second, judged{true, "1"}},
		"a long one":   {3*time.Hour + 20*time.Minute, time.Second, judged{false, "1 of 1 (c/s (3h20m)) have more than 1h of history"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog(t)
			l.put(events.BackfillSubject("c", "s"), schemas.TypeMetricsObserved, events.ClusterSource("c", "s"),
				&schemas.Metrics{Samples: []schemas.Sample{}}, events.ExtAge, strconv.FormatInt(tt.age.Milliseconds(), 10))
			tt.check(t, checkBackfill(l.state, noon.Add(tt.since)))
		})
	}
}
