package asker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// fake is a scoring API in the test's hands.
type fake struct {
	mu     sync.Mutex
	config schemas.SyncedConfig
	answer string           // to a post
	fail   *dynamic.Failure // instead of an answer to a post
	down   *dynamic.Failure // instead of any answer
	token  *dynamic.Failure
	posts  []string // bodies
	gets   []string // URLs
}

func newFake(name string) *fake {
	return &fake{
		config: schemas.SyncedConfig{
			Name: "sample", Source: schemas.SyncedSource{Type: "None"},
			Scoring: schemas.SyncedScoring{Path: "/scoring", Params: schemas.DynamicScoringParams{Name: name, Interval: 30}},
		},
		answer: `{"results":[{"metric":{"node":"n1"},"score":42}]}`,
	}
}

// set changes the fake.
func (f *fake) set(change func(*fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fake) posted() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.posts)
}

func (f *fake) Get(_ context.Context, url string, _ int64) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gets = append(f.gets, url)
	if f.down != nil {
		return nil, f.down
	}
	if strings.HasSuffix(url, "/healthz") {
		return []byte("ok"), nil
	}
	return json.Marshal(f.config)
}

func (f *fake) Post(_ context.Context, url string, token *schemas.TokenRef, body []byte, _ int64) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.posts = append(f.posts, url+" "+string(body))
	switch {
	case f.down != nil:
		return nil, f.down
	case f.fail != nil:
		return nil, f.fail
	case token != nil && f.token != nil:
		return nil, f.token
	}
	return []byte(f.answer), nil
}

func (f *fake) Token(schemas.TokenRef) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token == nil {
		return nil
	}
	return f.token
}

// start runs an Asker until the test ends, or the returned function is
// called.
func start(t testing.TB, b decider.Bus, api API, change ...func(*Options)) (e *Asker, stop func()) {
	t.Helper()
	o := Options{API: api}
	for _, c := range change {
		c(&o)
	}
	e, err := New(decidertest.Config(t, b, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	return e, decidertest.Run(t, e)
}

func publish(t testing.TB, p events.Publisher, subject, eventType string, payload schemas.Payload) events.Ack {
	t.Helper()
	e, err := events.New(eventType, "/test", payload)
	if err != nil {
		t.Fatal(err)
	}
	var opts []events.PublishOption
	if schemas.IsDeleted(eventType) {
		opts = append(opts, events.Tombstone())
	}
	ack, err := p.Publish(context.Background(), subject, e, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return ack
}

func hubClusters(t testing.TB, p events.Publisher, names ...string) {
	t.Helper()
	for _, name := range names {
		publish(t, p, events.HubSubject(events.KindCluster, "", name), schemas.TypeHubCluster, &schemas.Cluster{Name: name, UID: "u-" + name})
	}
}

// sample is a spec in the shape of upstream's samples.
func sample(change ...func(*schemas.DynamicScorerSpec)) schemas.DynamicScorerSpec {
	s := schemas.DynamicScorerSpec{
		Description: "A sample", ConfigURL: "http://scorer:8000/config", ConfigSyncMode: schemas.SyncFull,
		Location: schemas.LocationExternal, ScoreDestination: schemas.DestinationAddOnScore, ScoreDimensionFormat: "${node}",
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

func hubScorer(t testing.TB, p events.Publisher, name string, generation int64, spec schemas.DynamicScorerSpec) {
	t.Helper()
	publish(t, p, events.HubSubject(events.KindDynamicScorer, "ocm", name), schemas.TypeHubDynamicScorer,
		&schemas.DynamicScorer{Name: name, Namespace: "ocm", UID: "u-" + name, Generation: generation, Spec: spec})
}

func endScorer(t testing.TB, p events.Publisher, name string) {
	t.Helper()
	publish(t, p, events.HubSubject(events.KindDynamicScorer, "ocm", name), schemas.TypeHubDynamicScorerDeleted, &schemas.Deleted{Namespace: "ocm", Name: name})
}

func hubMasks(t testing.TB, p events.Publisher, masks ...schemas.Mask) {
	t.Helper()
	publish(t, p, events.HubSubject(events.KindScoringConfig, "ocm", schemas.DynamicScoringConfigName), schemas.TypeHubScoringConfig,
		&schemas.DynamicScoringConfig{Name: schemas.DynamicScoringConfigName, Namespace: "ocm", UID: "u", Masks: masks})
}

// history returns what was said of a cluster by a scorer, as "ITEM=VALUE
// REASON", or "deleted".
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
		items = append(items, it.Name+"="+value+" "+it.Reason)
	}
	slices.Sort(items)
	return strings.Join(items, ", ")
}

// now is what was said last, once all is quiet.
func now(t testing.TB, b *eventstest.Bus, cluster, scorer string) string {
	t.Helper()
	synctest.Wait()
	all := history(t, b, cluster, scorer)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

func expect(t testing.TB, b *eventstest.Bus, cluster, scorer, want string) {
	t.Helper()
	if got := now(t, b, cluster, scorer); got != want {
		t.Errorf("the score of %s by %s is %q, want %q", cluster, scorer, got, want)
	}
}

// status is the last status of a scorer, nil where it has none.
func status(t testing.TB, b events.Getter, name string) *schemas.ScorerStatus {
	t.Helper()
	synctest.Wait()
	m, err := b.Last(context.Background(), events.StreamStatus, events.StatusSubject(events.KindDynamicScorer, "ocm", name))
	if err != nil {
		return nil
	}
	r, err := events.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := r.Payload.(*schemas.ScorerStatus)
	return s
}

func expectStatus(t testing.TB, b events.Getter, name, health, reason string) *schemas.ScorerStatus {
	t.Helper()
	s := status(t, b, name)
	if s == nil || s.Health != health || s.Reason != reason {
		t.Fatalf("the status of %s is %+v, want %s and reason %q", name, s, health, reason)
	}
	return s
}

func expectDiff(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want +got\n%s", what, diff)
	}
}
