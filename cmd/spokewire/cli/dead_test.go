package cli

import (
	"strconv"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// A letter that is published again is as old as the server's clock says, far
// from which this machine's may be.
func TestRetryGoesByTheServersTime(t *testing.T) {
	t.Parallel()
	const waited, lay = 5 * time.Second, 10 * time.Minute
	noon := time.Date(2001, 11, 30, 12, 0, 0, 0, time.UTC)
	now := noon
	b := eventstest.NewBus()
	b.SetNow(func() time.Time { return now })
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource("c", "s"), &schemas.Metrics{Samples: []schemas.Sample{}})
	if err != nil {
		t.Fatal(err)
	}
	e.SetExtension(events.ExtAge, strconv.FormatInt(waited.Milliseconds(), 10))
	header, data, err := events.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	subject := events.MetricSubject("c", "s")
	m := events.Message{Stream: events.StreamMetrics, Subject: subject, Sequence: 1, ReceivedAt: noon, Header: header, Data: data}
	if err := events.Bury(t.Context(), b, "scorer", m, errUnwell); err != nil {
		t.Fatal(err)
	}

	now = noon.Add(lay)
	l, at, err := readLetter(t.Context(), b, "scorer/SW_METRICS-1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := retry(t.Context(), b, l, at); err != nil {
		t.Fatal(err)
	}
	again, err := b.Last(t.Context(), events.StreamMetrics, subject)
	if err != nil {
		t.Fatal(err)
	}
	r, err := events.Read(again)
	if err != nil {
		t.Fatal(err)
	}
	age, err := events.Age(r.Event)
	if want := waited + lay; err != nil || age < want || age > want+time.Minute {
		t.Errorf("its age is %s, %v, want %s", age, err, want)
	}
}
