package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

// traffic is what flows while things break, and what became of it.
type traffic struct {
	bus    events.Publisher
	seed   uint64
	prefix string // of the ids and sources of this round
	// again, if set, publishes each event more than once.
	again bool
	// pauses lets clusters fall silent for longer than a brief score holds.
	pauses bool
	// requests: a bridge is there, which bad requests are published for.
	requests bool

	cancel  context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	acked   []fold.Acked
	refused int
	bad     []fold.Bad
}

// publishTimeout bounds one publish: longer than any fault lasts.
const publishTimeout = time.Minute

// firstPause is after how many events one cluster falls silent in any case.
const firstPause = 20

// auditsPerSource keeps a source's events below what the stream keeps of a
// subject, even if each is stored twice.
const auditsPerSource = 25

func (f *traffic) start(ctx context.Context) {
	ctx, f.cancel = context.WithCancel(ctx)
	for i, cluster := range load.Clusters {
		random := rand.New(rand.NewPCG(f.seed, uint64(i)+100))
		f.running.Go(func() { f.publish(ctx, cluster, random) })
	}
	f.running.Go(func() { f.spoil(ctx, rand.New(rand.NewPCG(f.seed, 99))) })
}

// stop returns once nothing is on its way any more.
func (f *traffic) stop() {
	f.cancel()
	f.running.Wait()
}

// publish publishes a cluster's load, which is scored, and audits, which
// only have to be there afterwards.
func (f *traffic) publish(ctx context.Context, cluster string, random *rand.Rand) {
	silent := time.Time{}
	for n := 0; ctx.Err() == nil; n++ {
		f.store(cluster, load.Metric, load.Metric, random.IntN(1000))
		f.store(cluster, f.prefix+"audit-"+strconv.Itoa(n/auditsPerSource), "audit", n)
		if f.pauses && (n == firstPause && cluster == load.Clusters[0] || random.IntN(100) == 0) {
			silent = time.Now().Add(brief.ValidFor + time.Second)
		}
		if time.Now().After(silent) && n%3 == 0 {
			f.store(cluster, brief.Metric, brief.Metric, random.IntN(1000))
		}
		pause := time.Duration(5+random.IntN(30)) * time.Millisecond
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// store publishes one event. It is not cut off in the middle, so that
// nothing of it comes later.
func (f *traffic) store(cluster, source, metric string, value int) {
	ctx, cancel := context.WithTimeout(context.Background(), publishTimeout)
	defer cancel()
	payload := &schemas.Metrics{Samples: []schemas.Sample{{Name: metric, Value: float64(value)}}}
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(cluster, source), payload)
	if err != nil {
		panic(err) // the test's own event
	}
	subject := events.MetricSubject(cluster, source)
	_, err = f.bus.Publish(ctx, subject, e)
	if err == nil && f.again {
		err = f.repeat(ctx, subject, e)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.refused++
		return
	}
	f.acked = append(f.acked, fold.Acked{Subject: subject, ID: e.ID(), At: time.Now()})
}

// repeat publishes e again: under the same message id, which the server
// drops, and under another, which it does not.
func (f *traffic) repeat(ctx context.Context, subject string, e event.Event) error {
	if _, err := f.bus.Publish(ctx, subject, e, events.Repeated()); err != nil {
		return err
	}
	_, err := f.bus.Publish(ctx, subject, e, events.WithMessageID(events.NewID()))
	return err
}

// spoil publishes what cannot be read, among sound events.
func (f *traffic) spoil(ctx context.Context, random *rand.Rand) {
	for n := 0; ctx.Err() == nil; n++ {
		cluster := load.Clusters[random.IntN(len(load.Clusters))]
		f.storeBad(cluster, fmt.Sprintf("%sbad-%d", f.prefix, n), random)
		if f.requests && n%4 == 0 {
			f.storeBadRequest(fmt.Sprintf("%sbad-request-%d", f.prefix, n))
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(100+random.IntN(300)) * time.Millisecond):
		}
	}
}

// storeBad publishes one sound envelope around something that is not.
func (f *traffic) storeBad(cluster, id string, random *rand.Rand) {
	kinds := []struct{ body, field string }{
		{`{"samples":[{"name":"load_free","value":"high"}]}`, "samples[0].value"},
		{`{"samples":[{"name":"load_free","value":1e999}]}`, "samples[0].value"},
		{`{"samples":[],"colour":"red"}`, "colour"},
		{`{"samples":[{"name":"a\nb","value":1}]}`, "samples[0].name"},
	}
	kind := kinds[random.IntN(len(kinds))]
	source := f.prefix + "bad"
	bad := fold.Bad{Subject: events.MetricSubject(cluster, source), ID: id, Field: kind.field}
	f.storeUnreadable(bad, schemas.TypeMetricsObserved, events.ClusterSource(cluster, source), kind.body)
}

// storeBadRequest asks for a Placement in words that the bridge does not know.
// Each is on a subject of its own, so that none is overtaken.
func (f *traffic) storeBadRequest(id string) {
	bad := fold.Bad{Subject: events.ConfigSubject(events.KindPlacement, "default", id), ID: id, Field: "colour"}
	f.storeUnreadable(bad, schemas.TypeConfigPlacement, events.ServiceSource("faults"), `{"colour":"red"}`)
}

func (f *traffic) storeUnreadable(bad fold.Bad, eventType, source, body string) {
	e := event.New()
	e.SetID(bad.ID)
	e.SetType(eventType)
	e.SetSource(source)
	e.SetDataContentType("application/json")
	e.DataEncoded = []byte(body)
	f.blame(bad)
	ctx, cancel := context.WithTimeout(context.Background(), publishTimeout)
	defer cancel()
	_, err := f.bus.Publish(ctx, bad.Subject, e)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.refused++
	}
}

// blame remembers an event that cannot be read.
func (f *traffic) blame(bad fold.Bad) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bad = append(f.bad, bad)
}

// audits are the acknowledged events that the log keeps all of.
func (f *traffic) audits() []fold.Acked {
	var audits []fold.Acked
	for _, a := range f.acked {
		if strings.Contains(a.Subject, "audit-") {
			audits = append(audits, a)
		}
	}
	return audits
}

// leastAcked is how many events mean anything.
const leastAcked = 50

// ample waits for as many, which a busy machine takes a while for.
func (f *traffic) ample(t *testing.T) {
	t.Helper()
	testwait.Until(t.Context(), 30*time.Second, func() string {
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.acked) < leastAcked {
			return "too few"
		}
		return ""
	})
}

// enough fails a round in which too little happened to mean anything.
func (f *traffic) enough(t *testing.T) {
	t.Helper()
	if len(f.acked) < leastAcked {
		t.Errorf("only %d events were acknowledged, too few to mean anything (%d were refused)", len(f.acked), f.refused)
	}
}
