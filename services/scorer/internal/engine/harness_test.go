package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// start runs an engine until the test ends, or the returned function is
// called.
func start(t testing.TB, b decider.Bus, tracer trace.TracerProvider) (e *Engine, stop func()) {
	t.Helper()
	e, err := New(decidertest.Config(t, b, tracer))
	if err != nil {
		t.Fatal(err)
	}
	return e, decidertest.Run(t, e)
}

func publish(t testing.TB, p events.Publisher, subject string, e event.Event, opts ...events.PublishOption) events.Ack {
	t.Helper()
	ack, err := p.Publish(context.Background(), subject, e, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return ack
}

func newEvent(t testing.TB, eventType, source string, p schemas.Payload) event.Event {
	t.Helper()
	e, err := events.New(eventType, source, p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// samples reads "a=1 b=2" and "q{tier=x}=3".
func samples(t testing.TB, text string) *schemas.Metrics {
	t.Helper()
	m := &schemas.Metrics{Samples: []schemas.Sample{}}
	for _, field := range strings.Fields(text) {
		cut := strings.LastIndexByte(field, '=')
		s := schemas.Sample{Name: field[:cut]}
		if _, err := fmt.Sscan(field[cut+1:], &s.Value); err != nil {
			t.Fatal(err)
		}
		if name, labels, ok := strings.Cut(s.Name, "{"); ok {
			key, value, _ := strings.Cut(strings.TrimSuffix(labels, "}"), "=")
			s.Name, s.Labels = name, map[string]string{key: value}
		}
		m.Samples = append(m.Samples, s)
	}
	return m
}

func metric(t testing.TB, p events.Publisher, cluster, source, text string) events.Ack {
	t.Helper()
	return publish(t, p, events.MetricSubject(cluster, source), newEvent(t, schemas.TypeMetricsObserved, events.ClusterSource(cluster, source), samples(t, text)))
}

// apply asks for a scorer; change may be nil.
func apply(t testing.TB, p events.Publisher, name, cel string, change func(*schemas.Scorer)) events.Ack {
	t.Helper()
	s := &schemas.Scorer{
		APIVersion: schemas.ScorerAPIVersion, Kind: schemas.ScorerKind,
		Metadata: schemas.Metadata{Name: name}, Spec: schemas.ScorerSpec{CEL: cel},
	}
	if change != nil {
		change(s)
	}
	return publish(t, p, events.ConfigSubject(events.KindScorer, "", name), newEvent(t, schemas.TypeConfigScorer, "/cli", s))
}

func deleteScorer(t testing.TB, p events.Publisher, name string) {
	t.Helper()
	publish(t, p, events.ConfigSubject(events.KindScorer, "", name), newEvent(t, schemas.TypeConfigScorerDeleted, "/cli", &schemas.Deleted{Name: name}), events.Tombstone())
}

func hubCluster(t testing.TB, p events.Publisher, name string, labels, claims map[string]string) {
	t.Helper()
	publish(t, p, events.HubSubject(events.KindCluster, "", name), newEvent(t, schemas.TypeHubCluster, "/services/hub-bridge",
		&schemas.Cluster{Name: name, UID: "u-" + name, Labels: labels, Claims: claims}))
}

func deleteCluster(t testing.TB, p events.Publisher, name string) {
	t.Helper()
	publish(t, p, events.HubSubject(events.KindCluster, "", name), newEvent(t, schemas.TypeHubClusterDeleted, "/services/hub-bridge", &schemas.Deleted{Name: name}), events.Tombstone())
}

// history returns what was said on a subject, as "VALUE REASON", or
// "deleted".
func history(t testing.TB, b *eventstest.Bus, cluster, scorer string) []string {
	t.Helper()
	var all []string
	for _, m := range b.Messages(events.StreamScores) {
		if m.Subject == events.ScoreSubject(cluster, scorer) {
			all = append(all, show(t, m))
		}
	}
	return all
}

func show(t testing.TB, m events.Message) string {
	t.Helper()
	r, err := events.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := r.Payload.(*schemas.Score)
	if !ok {
		return "deleted"
	}
	var items []string
	for _, it := range s.Items {
		value := "-"
		if it.Value != nil {
			value = fmt.Sprint(*it.Value)
		}
		items = append(items, value+" "+it.Reason)
	}
	return strings.Join(items, ", ")
}

// lastScore returns the last event of a subject and its score.
func lastScore(t testing.TB, b events.Getter, cluster, scorer string) (events.Received, *schemas.Score) {
	t.Helper()
	m, err := b.Last(context.Background(), events.StreamScores, events.ScoreSubject(cluster, scorer))
	if err != nil {
		t.Fatal(err)
	}
	r, err := events.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := r.Payload.(*schemas.Score)
	return r, s
}

// deadLetters returns the letters by the subject of what they keep.
func deadLetters(t testing.TB, b *eventstest.Bus) map[string]*schemas.DeadLetter {
	t.Helper()
	letters := map[string]*schemas.DeadLetter{}
	for _, m := range b.Messages(events.StreamDead) {
		r, err := events.Read(m)
		if err != nil {
			t.Fatal(err)
		}
		d := r.Payload.(*schemas.DeadLetter)
		letters[d.Subject] = d
	}
	return letters
}
