package asker

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/scorer/internal/roster"
)

// run gives a test a bus in a bubble of its own time.
func run(t *testing.T, fn func(t *testing.T, b *eventstest.Bus)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { fn(t, eventstest.NewBus()) })
}

func TestScoresComeFromTheAPI(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("sample_my_score")
		api.answer = `{"results":[{"metric":{"node":"n1"},"score":42.4},{"metric":{"node":"n2"},"score":1e308}]}`
		e, _ := start(t, b, api)
		hubClusters(t, b, "c1", "c2")
		hubScorer(t, b, "s", 3, sample())
		expect(t, b, "c1", "sample-my-score", "n1=42 Computed, n2=100 Clamped")
		expect(t, b, "c2", "sample-my-score", "n1=42 Computed, n2=100 Clamped")
		s := expectStatus(t, b, "s", schemas.HealthActive, "")
		if s.UID != "u-s" || s.Generation != 3 || s.Clusters != 2 || s.ScoreName != "sample-my-score" || s.Config == nil || s.Config.Name != "sample" {
			t.Errorf("the status is %+v", s)
		}
		expectDiff(t, "posts", []string{`http://scorer:8000/scoring {"data":null}`}, api.posts)
		if n := len(decidertest.Series(t, e.gauges)); n != 4 {
			t.Errorf("%d gauges, want one for each node of each cluster", n)
		}
		m, err := b.Last(context.Background(), events.StreamScores, events.ScoreSubject("c1", "sample-my-score"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := events.Read(m)
		if err != nil {
			t.Fatal(err)
		}
		score := r.Payload.(*schemas.Score)
		if until := score.ValidUntil.Sub(m.ReceivedAt); until < 80*time.Second || until > 90*time.Second || score.HubOff {
			t.Errorf("the score holds for %v, hubOff %v, want three intervals of 30s, on the hub", until, score.HubOff)
		}
		expectDiff(t, "inputs", []schemas.ScoreInput{
			{Kind: "answer", Name: `{node="n1"}`, Value: "42.4"}, {Kind: "api", Name: "http://scorer:8000/scoring"},
		}, score.Items[0].Inputs)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := api.posted(); n < 18 || n > 22 {
			t.Errorf("in 10 minutes it was asked %d times, want about every 30s", n)
		}
		if n := len(history(t, b, "c1", "sample-my-score")); n > 22 {
			t.Errorf("a score that does not change was published %d times, want at most once for each answer", n)
		}
		expect(t, b, "c1", "sample-my-score", "n1=42 Computed, n2=100 Clamped")
	})
}

func TestChangesApplyAtOnce(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("a")
		start(t, b, api)
		hubClusters(t, b, "c1")
		hubScorer(t, b, "s", 1, sample())
		expect(t, b, "c1", "a", "n1=42 Computed")
		hubScorer(t, b, "s", 2, sample(func(s *schemas.DynamicScorerSpec) { s.ScoreDimensionFormat = "${cluster}-${node}" }))
		expect(t, b, "c1", "a", "c1-n1=42 Computed")
		hubClusters(t, b, "c2")
		expect(t, b, "c2", "a", "c2-n1=42 Computed")
		// Off the hub, by the same values.
		hubScorer(t, b, "s", 3, sample(func(s *schemas.DynamicScorerSpec) {
			s.ScoreDimensionFormat, s.ScoreDestination = "${cluster}-${node}", schemas.DestinationNone
		}))
		synctest.Wait()
		m, err := b.Last(context.Background(), events.StreamScores, events.ScoreSubject("c1", "a"))
		if err != nil || !strings.Contains(string(m.Data), `"hubOff":true`) {
			t.Errorf("the score is %s, %v, want it off the hub", m.Data, err)
		}
		// The scorer itself names its score otherwise, which a check finds out.
		api.set(func(f *fake) { f.config.Scoring.Params.Name = "b" })
		time.Sleep(time.Minute)
		expect(t, b, "c1", "b", "c1-n1=42 Computed")
		expect(t, b, "c1", "a", "deleted")
		endScorer(t, b, "s")
		expect(t, b, "c1", "b", "deleted")
		expect(t, b, "c2", "b", "deleted")
		if s := status(t, b, "s"); s != nil {
			t.Errorf("a scorer that is gone has the status %+v", s)
		}
		asked := api.posted()
		time.Sleep(5 * time.Minute)
		if api.posted() != asked {
			t.Error("a scorer that is gone is asked still")
		}
		hubScorer(t, b, "s", 1, sample())
		expect(t, b, "c1", "b", "n1=42 Computed")
	})
}

func TestMasksAndClusters(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("my_score")
		e, _ := start(t, b, api)
		hubClusters(t, b, "c1", "c2")
		hubMasks(t, b, schemas.Mask{ClusterName: "c2", ScoreName: "my_score"}, schemas.Mask{ClusterName: "c1", ScoreName: "other"})
		hubScorer(t, b, "s", 1, sample())
		expect(t, b, "c1", "my-score", "n1=42 Computed")
		expect(t, b, "c2", "my-score", "")
		if s := expectStatus(t, b, "s", schemas.HealthActive, ""); s.Clusters != 1 {
			t.Errorf("it counts %d clusters, want 1", s.Clusters)
		}
		hubMasks(t, b, schemas.Mask{ClusterName: "c1", ScoreName: "my_score"})
		expect(t, b, "c1", "my-score", "deleted")
		expect(t, b, "c2", "my-score", "n1=42 Computed")
		publish(t, b, events.HubSubject(events.KindScoringConfig, "ocm", schemas.DynamicScoringConfigName), schemas.TypeHubScoringConfigDeleted,
			&schemas.Deleted{Namespace: "ocm", Name: schemas.DynamicScoringConfigName})
		expect(t, b, "c1", "my-score", "n1=42 Computed")
		publish(t, b, events.HubSubject(events.KindCluster, "", "c1"), schemas.TypeHubClusterDeleted, &schemas.Deleted{Name: "c1"})
		expect(t, b, "c1", "my-score", "deleted")
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(decidertest.Series(t, e.gauges)); n != 1 {
			t.Errorf("%d gauges for one cluster", n)
		}
	})
}

func TestAFailureIsNeverANumber(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("a")
		start(t, b, api)
		hubClusters(t, b, "c1")
		hubScorer(t, b, "s", 1, sample())
		expect(t, b, "c1", "a", "n1=42 Computed")
		api.set(func(f *fake) { f.fail = dynamic.Failf(dynamic.BadStatus, "the answer is 500") })
		time.Sleep(45 * time.Second)
		expect(t, b, "c1", "a", "n1=42 Computed") // stands until it expires
		if s := expectStatus(t, b, "s", schemas.HealthInactive, dynamic.BadStatus); s.Failing[dynamic.BadStatus] != 1 || !strings.Contains(s.Message, "1 of 1 clusters: the answer is 500") {
			t.Errorf("the status says %+v", s)
		}
		time.Sleep(90 * time.Second)
		expect(t, b, "c1", "a", "n1=- BadStatus")
		before := api.posted()
		time.Sleep(10 * time.Minute)
		if n := api.posted() - before; n < 8 || n > 24 {
			t.Errorf("a scorer that fails was asked %d times in 10 minutes, want about once a minute", n)
		}
		expectDiff(t, "history", []string{"n1=42 Computed", "n1=- BadStatus"}, history(t, b, "c1", "a"))
		api.set(func(f *fake) { f.fail = nil })
		time.Sleep(2 * time.Minute)
		expect(t, b, "c1", "a", "n1=42 Computed")
		expectStatus(t, b, "s", schemas.HealthActive, "")
	})
}

func TestBadAnswersHaveTheirReasonsAndSpoilNothingElse(t *testing.T) {
	for name, tt := range map[string]struct{ answer, score, reason string }{
		"NaN":        {`{"results":[{"metric":{"node":"n1"},"score":NaN},{"metric":{"node":"n2"},"score":1}]}`, "n1=- NotANumber, n2=1 Computed", dynamic.NotANumber},
		"1e308":      {`{"results":[{"metric":{"node":"n1"},"score":-1e308}]}`, "n1=-100 Clamped", ""},
		"text":       {`{"results":[{"metric":{"node":"n1"},"score":"42"}]}`, "n1=- NotANumber", dynamic.NotANumber},
		"clusters":   {`{"results":[{"metric":{"node":"n1","cluster":"c9"},"score":1}]}`, "a=- NoResult", dynamic.NoResult},
		"no results": {`{"results":[]}`, "a=- NoResult", dynamic.NoResult},
		"HTML":       {`<html>It works!</html>`, "a=- NotJSON", dynamic.NotJSON},
		"nothing":    {``, "a=- EmptyAnswer", dynamic.EmptyAnswer},
		"a million":  {`{"results":[` + strings.TrimSuffix(strings.Repeat(`{"score":1},`, 20_000), ",") + `]}`, "a=- TooManyResults", dynamic.TooManyResults},
		"no label":   {`{"results":[{"metric":{},"score":1}]}`, "a=- NoDimension", dynamic.NoDimension},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *eventstest.Bus) {
				bad := newFake("a")
				bad.answer = tt.answer
				good := newFake("b")
				start(t, b, &byHost{"bad": bad, "good": good})
				hubClusters(t, b, "c1")
				hubScorer(t, b, "bad", 1, sample(func(s *schemas.DynamicScorerSpec) { s.ConfigURL = "http://bad/config" }))
				hubScorer(t, b, "good", 1, sample(func(s *schemas.DynamicScorerSpec) { s.ConfigURL = "http://good/config" }))
				expect(t, b, "c1", "a", tt.score)
				expectStatus(t, b, "bad", schemas.HealthActive, tt.reason)
				time.Sleep(5 * time.Minute)
				expect(t, b, "c1", "b", "n1=42 Computed")
				expectStatus(t, b, "good", schemas.HealthActive, "")
			})
		})
	}
}

// byHost is several scoring APIs.
type byHost map[string]*fake

func (h *byHost) of(url string) *fake {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	return (*h)[host]
}

func (h *byHost) Get(ctx context.Context, url string, limit int64) ([]byte, error) {
	return h.of(url).Get(ctx, url, limit)
}

func (h *byHost) Post(ctx context.Context, url string, ref *schemas.TokenRef, body []byte, limit int64) ([]byte, error) {
	return h.of(url).Post(ctx, url, ref, body, limit)
}

func (h *byHost) Token(schemas.TokenRef) error { return nil }

func TestAMissingTokenIsSaid(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("a")
		api.token = dynamic.Failf(dynamic.TokenMissing, "there is no file api-auth/token")
		start(t, b, api)
		hubClusters(t, b, "c1")
		hubScorer(t, b, "s", 1, sample(func(s *schemas.DynamicScorerSpec) {
			s.Scoring = &schemas.DynamicScoring{Auth: &schemas.DynamicAuth{TokenSecretRef: schemas.TokenRef{Name: "api-auth", Key: "token"}}}
		}))
		expect(t, b, "c1", "a", "a=- TokenMissing")
		expectStatus(t, b, "s", schemas.HealthInactive, dynamic.TokenMissing)
		api.set(func(f *fake) { f.token = nil })
		time.Sleep(2 * time.Minute)
		expect(t, b, "c1", "a", "n1=42 Computed")
		expectStatus(t, b, "s", schemas.HealthActive, "")
	})
}

func TestAScorerThatIsAwayIsInactive(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("a")
		api.down = dynamic.Failf(dynamic.Unreachable, "connection refused")
		start(t, b, api)
		hubClusters(t, b, "c1")
		hubScorer(t, b, "full", 1, sample())
		s := expectStatus(t, b, "full", schemas.HealthInactive, dynamic.Unreachable)
		if !strings.Contains(s.Message, "http://scorer:8000/config") || s.ScoreName != "" {
			t.Errorf("the status is %+v", s)
		}
		hubScorer(t, b, "none", 1, sample(func(s *schemas.DynamicScorerSpec) {
			s.ConfigSyncMode = schemas.SyncNone
			s.Source = &schemas.DynamicSource{Type: schemas.SourceNone}
			s.Scoring = &schemas.DynamicScoring{Params: &schemas.DynamicScoringParams{Name: "mine", Interval: 10}}
		}))
		if s := expectStatus(t, b, "none", schemas.HealthInactive, dynamic.Unreachable); !strings.Contains(s.Message, "/healthz") {
			t.Errorf("the status is %+v", s)
		}
		expect(t, b, "c1", "mine", "mine=- Unreachable")
		api.set(func(f *fake) { f.down = nil })
		time.Sleep(2 * time.Minute)
		expectStatus(t, b, "full", schemas.HealthActive, "")
		expectStatus(t, b, "none", schemas.HealthActive, "")
		expect(t, b, "c1", "mine", "n1=42 Computed")
		expect(t, b, "c1", "a", "n1=42 Computed")
	})
}

func TestOneNameIsOneScorers(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("a")
		start(t, b, api)
		hubClusters(t, b, "c1")
		hubScorer(t, b, "second", 1, sample())
		expect(t, b, "c1", "a", "n1=42 Computed")
		hubScorer(t, b, "first", 1, sample()) // sorts before it, but came later
		if s := expectStatus(t, b, "first", schemas.HealthActive, dynamic.NameTaken); !strings.Contains(s.Message, "ocm/second") || s.ScoreName != "" {
			t.Errorf("the status is %+v", s)
		}
		expectStatus(t, b, "second", schemas.HealthActive, "")
		publish(t, b, events.ConfigSubject(events.KindScorer, "", "a"), schemas.TypeConfigScorer, &schemas.Scorer{
			APIVersion: schemas.ScorerAPIVersion, Kind: schemas.ScorerKind, Metadata: schemas.Metadata{Name: "a"}, Spec: schemas.ScorerSpec{CEL: "1"},
		})
		if s := expectStatus(t, b, "second", schemas.HealthActive, dynamic.NameTaken); !strings.Contains(s.Message, "Scorer a") {
			t.Errorf("the status is %+v", s)
		}
		asked := api.posted()
		time.Sleep(5 * time.Minute)
		expectDiff(t, "history", []string{"n1=42 Computed"}, history(t, b, "c1", "a")[:1])
		if api.posted() != asked {
			t.Error("those without the name are asked")
		}
		publish(t, b, events.ConfigSubject(events.KindScorer, "", "a"), schemas.TypeConfigScorerDeleted, &schemas.Deleted{Name: "a"})
		endScorer(t, b, "second")
		expect(t, b, "c1", "a", "n1=42 Computed")
		expectStatus(t, b, "first", schemas.HealthActive, "")
	})
}

// TestOneReplicaAsks, and another takes over when it is gone.
func TestOneReplicaAsks(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		first, second := newFake("a"), newFake("a")
		_, stop := start(t, b.Peer(), first, func(o *Options) { o.Identity = "first" })
		hubClusters(t, b, "c1")
		hubScorer(t, b, "s", 1, sample())
		expect(t, b, "c1", "a", "n1=42 Computed")
		start(t, b.Peer(), second, func(o *Options) { o.Identity = "second" })
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if second.posted() != 0 || len(second.gets) != 0 || first.posted() < 8 {
			t.Errorf("the replicas asked %d and %d times, want one alone", first.posted(), second.posted())
		}
		stop()
		second.set(func(f *fake) { f.answer = `{"results":[{"metric":{"node":"n1"},"score":43}]}` })
		time.Sleep(40 * time.Second)
		expect(t, b, "c1", "a", "n1=43 Computed")
		if s := expectStatus(t, b, "s", schemas.HealthActive, ""); s.Holder != "second" {
			t.Errorf("the holder is %s", s.Holder)
		}
		for _, said := range history(t, b, "c1", "a") {
			if strings.Contains(said, "-") {
				t.Errorf("the change of hands cost a score: %s", said)
			}
		}
	})
}

// TestARestartGoesOn from what the bus has, also while the scorer's own
// configuration cannot be read.
func TestARestartGoesOn(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("a")
		_, stop := start(t, b, api)
		hubClusters(t, b, "c1", "c2")
		hubScorer(t, b, "s", 1, sample())
		expect(t, b, "c1", "a", "n1=42 Computed")
		stop()
		// While nobody is there, a cluster is masked and another scorer goes.
		hubMasks(t, b, schemas.Mask{ClusterName: "c2", ScoreName: "a"})
		api.set(func(f *fake) { f.config = schemas.SyncedConfig{} })
		noConfig := &without404{api}
		start(t, b, noConfig)
		time.Sleep(45 * time.Second) // the claim of the one before ends
		expect(t, b, "c1", "a", "n1=42 Computed")
		expect(t, b, "c2", "a", "deleted")
		s := expectStatus(t, b, "s", schemas.HealthInactive, dynamic.BadStatus)
		if s.Config == nil || s.Config.Scoring.Params.Name != "a" {
			t.Errorf("the configuration is lost: %+v", s.Config)
		}
		if api.posted() < 2 {
			t.Error("it does not go on asking by what it knows")
		}
	})
}

// without404 has no configuration.
type without404 struct{ *fake }

func (w *without404) Get(context.Context, string, int64) ([]byte, error) {
	return nil, dynamic.Failf(dynamic.BadStatus, "the answer is 404")
}

// TestScoresOfAScorerThatWentWhileNobodyWasThere are withdrawn.
func TestScoresOfAScorerThatWentWhileNobodyWasThere(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("a")
		_, stop := start(t, b, api)
		hubClusters(t, b, "c1")
		hubScorer(t, b, "s", 1, sample())
		expect(t, b, "c1", "a", "n1=42 Computed")
		stop()
		endScorer(t, b, "s")
		start(t, b, api)
		expect(t, b, "c1", "a", "deleted")
		if s := status(t, b, "s"); s != nil {
			t.Errorf("its status stays: %+v", s)
		}
	})
}

// TestOverTheBusWithoutAHub: clusters are those that have metrics.
func TestOverTheBusWithoutAHub(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		known := roster.New()
		start(t, b, newFake("a"), func(o *Options) { o.Roster = known })
		known.Set("c1", true)
		request := &schemas.DynamicScorerRequest{
			APIVersion: schemas.DynamicScoringAPIVersion, Kind: schemas.DynamicScorerKind,
			Metadata: schemas.Metadata{Name: "s", Namespace: "ocm"}, Spec: sample(),
		}
		subject := events.ConfigSubject(events.KindDynamicScorer, "ocm", "s")
		publish(t, b, subject, schemas.TypeConfigDynamicScorer, request)
		expect(t, b, "c1", "a", "n1=42 Computed")
		known.Set("c2", true)
		expect(t, b, "c2", "a", "n1=42 Computed")
		publish(t, b, events.ConfigSubject(events.KindScoringConfig, "ocm", schemas.DynamicScoringConfigName), schemas.TypeConfigScoringConfig,
			&schemas.DynamicScoringConfigRequest{
				APIVersion: schemas.DynamicScoringAPIVersion, Kind: schemas.DynamicScoringConfigKind,
				Metadata: schemas.Metadata{Name: schemas.DynamicScoringConfigName, Namespace: "ocm"},
				Spec:     schemas.DynamicScoringConfigSpec{Masks: []schemas.Mask{{ClusterName: "c1", ScoreName: "a"}}},
			})
		expect(t, b, "c1", "a", "deleted")
		// The hub's own goes before the one over the bus.
		hubScorer(t, b, "s", 1, sample(func(s *schemas.DynamicScorerSpec) { s.ScoreDimensionFormat = "hub" }))
		expect(t, b, "c2", "a", "hub=42 Computed")
		endScorer(t, b, "s")
		expect(t, b, "c2", "a", "n1=42 Computed")
		publish(t, b, subject, schemas.TypeConfigDynamicScorerDeleted, &schemas.Deleted{Namespace: "ocm", Name: "s"})
		expect(t, b, "c2", "a", "deleted")
	})
}

// TestAnUnreadableRequestIsKept and changes nothing.
func TestAnUnreadableRequestIsKept(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		start(t, b, newFake("a"))
		hubClusters(t, b, "c1")
		hubScorer(t, b, "s", 1, sample())
		expect(t, b, "c1", "a", "n1=42 Computed")
		subject := events.HubSubject(events.KindDynamicScorer, "ocm", "s")
		b.Store(subject, events.Header{"ce-specversion": {"1.0"}, "ce-id": {"x"}, "ce-source": {"/x"}, "ce-type": {schemas.TypeHubDynamicScorer}}, []byte(`{"name":7}`))
		time.Sleep(2 * time.Minute)
		expect(t, b, "c1", "a", "n1=42 Computed")
		letters := 0
		for _, m := range b.Messages(events.StreamDead) {
			if strings.Contains(string(m.Data), subject) {
				letters++
			}
		}
		if letters != 1 {
			t.Errorf("%d dead letters, want 1", letters)
		}
	})
}

func TestGaugesAreBounded(t *testing.T) {
	t.Parallel()
	e, err := New(decidertest.Config(t, eventstest.NewBus(), nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	results := make([]dynamic.Result, 9000)
	for i := range results {
		results[i].Metric = map[string]string{"pod": string(rune('a'+i%26)) + strings.Repeat("x", i/26)}
	}
	for _, c := range []string{"c1", "c2", "c3", "c1"} {
		e.gauges.set(key{"n", "s"}, c, "score", results)
	}
	if n := len(decidertest.Series(t, e.gauges)); n != maxSeries {
		t.Errorf("%d series, want %d", n, maxSeries)
	}
	if decidertest.Total(t, e.gauges.dropped) == 0 {
		t.Error("what is left out is not counted")
	}
	e.gauges.drop(key{"n", "s"}, "c3")
	e.gauges.set(key{"n", "t"}, "c1", "other", append(results[:1:1], results[0])) // twice the same
	if n := len(decidertest.Series(t, e.gauges)); n != 18001 {
		t.Errorf("%d series, want 18001", n)
	}
	e.gauges.dropScorer(key{"n", "s"})
	if n := len(decidertest.Series(t, e.gauges)); n != 1 {
		t.Errorf("%d series, want 1", n)
	}
	var _ prometheus.Collector = e.gauges
}
