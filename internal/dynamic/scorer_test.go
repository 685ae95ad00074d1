package dynamic

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// spec is one in the shape of upstream's samples.
func spec(change ...func(*schemas.DynamicScorerSpec)) *schemas.DynamicScorerSpec {
	s := &schemas.DynamicScorerSpec{
		Description: "A sample", ConfigURL: "http://scorer.example:8000/config", ConfigSyncMode: schemas.SyncFull,
		Location: schemas.LocationExternal, ScoreDestination: schemas.DestinationAddOnScore, ScoreDimensionFormat: "${node};${namespace};${pod}",
		Source:  &schemas.DynamicSource{Host: "http://prometheus.monitoring.svc:9090", Path: "/api/v1/query_range"},
		Scoring: &schemas.DynamicScoring{Path: "/scoring", Auth: &schemas.DynamicAuth{TokenSecretRef: schemas.TokenRef{Name: "api-auth", Key: "token"}}},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func synced(change ...func(*schemas.SyncedConfig)) *schemas.SyncedConfig {
	c := &schemas.SyncedConfig{
		Name: "sample", Description: "A sample score",
		Source: schemas.SyncedSource{
			Type: "Prometheus", Host: "http://other:9090", Path: "/api/v1/query_range",
			Params: schemas.DynamicSourceParams{Query: "sum by (node) (cpu); sum by (node) (memory) ;", Range: 3600, Step: 60},
		},
		Scoring: schemas.SyncedScoring{Path: "/v2/scoring", Params: schemas.DynamicScoringParams{Name: "sample_my_score", Interval: 45}},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func TestResolveJoinsBothConfigurations(t *testing.T) {
	t.Parallel()
	ref := &schemas.TokenRef{Name: "api-auth", Key: "token"}
	tests := map[string]struct {
		spec   *schemas.DynamicScorerSpec
		synced *schemas.SyncedConfig
		want   Scorer
	}{
		"the scorer's own comes first": {
			spec: spec(), synced: synced(),
			want: Scorer{
				ScoreName: "sample_my_score", Name: "sample-my-score", URL: "http://scorer.example:8000/v2/scoring", Token: ref,
				Interval: 45 * time.Second, Format: "${node};${namespace};${pod}",
				Source: &Source{URL: "http://other:9090/api/v1/query_range", Queries: []string{"sum by (node) (cpu)", "sum by (node) (memory)"}, Range: time.Hour, Step: time.Minute},
			},
		},
		"where it says nothing, the resource does": {
			spec: spec(func(s *schemas.DynamicScorerSpec) {
				s.Source.Type, s.Source.Params = "prometheus", &schemas.DynamicSourceParams{Query: "up", Range: 60, Step: 10}
				s.Source.Auth = s.Scoring.Auth
				s.Scoring.Params, s.Scoring.Host = &schemas.DynamicScoringParams{Name: "mine", Interval: 5}, "https://api"
				s.ScoreDimensionFormat = ""
			}),
			synced: &schemas.SyncedConfig{},
			want: Scorer{
				ScoreName: "mine", Name: "mine", URL: "https://api/scoring", Token: ref, Interval: 5 * time.Second, Format: DefaultFormat,
				Source: &Source{URL: "http://prometheus.monitoring.svc:9090/api/v1/query_range", Queries: []string{"up"}, Range: time.Minute, Step: 10 * time.Second, Token: ref},
			},
		},
		"an instant query": {
			spec: spec(),
			synced: synced(func(c *schemas.SyncedConfig) {
				c.Source.Path, c.Source.Params = "/api/v1/query", schemas.DynamicSourceParams{Query: "up", Range: 60, Step: 10}
			}),
			want: Scorer{
				ScoreName: "sample_my_score", Name: "sample-my-score", URL: "http://scorer.example:8000/v2/scoring", Token: ref,
				Interval: 45 * time.Second, Format: "${node};${namespace};${pod}",
				Source: &Source{URL: "http://other:9090/api/v1/query", Queries: []string{"up"}},
			},
		},
		"a query without a range": {
			spec:   spec(),
			synced: synced(func(c *schemas.SyncedConfig) { c.Source.Params = schemas.DynamicSourceParams{Query: "up", Step: 10} }),
			want: Scorer{
				ScoreName: "sample_my_score", Name: "sample-my-score", URL: "http://scorer.example:8000/v2/scoring", Token: ref,
				Interval: 45 * time.Second, Format: "${node};${namespace};${pod}",
				Source: &Source{URL: "http://other:9090/api/v1/query_range", Queries: []string{"up"}},
			},
		},
		"without a source": {
			spec: spec(func(s *schemas.DynamicScorerSpec) {
				s.Scoring, s.Source = nil, nil
				s.Location, s.ScoreDestination = schemas.LocationInternal, schemas.DestinationNone
			}),
			synced: &schemas.SyncedConfig{Source: schemas.SyncedSource{Type: "None"}, Scoring: schemas.SyncedScoring{Host: "http://elsewhere:1/a", Params: schemas.DynamicScoringParams{Name: "s"}}},
			want: Scorer{
				ScoreName: "s", Name: "s", URL: "http://elsewhere:1/a/score", Interval: DefaultInterval, Internal: true, HubOff: true,
				Format: "${node};${namespace};${pod}",
			},
		},
		"without synchronisation the scorer's own does not count": {
			spec: spec(func(s *schemas.DynamicScorerSpec) {
				s.ConfigSyncMode, s.Source = schemas.SyncNone, &schemas.DynamicSource{Type: "None"}
				s.Scoring.Params = &schemas.DynamicScoringParams{Name: "mine", Interval: 7}
			}),
			synced: synced(),
			want: Scorer{
				ScoreName: "mine", Name: "mine", URL: "http://scorer.example:8000/scoring", Token: ref, Interval: 7 * time.Second,
				Format: "${node};${namespace};${pod}",
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Resolve(tt.spec, tt.synced)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestResolveSaysWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	type change = func(*schemas.DynamicScorerSpec, *schemas.SyncedConfig)
	tests := map[string]struct {
		change change
		reason string
		text   string
	}{
		"mode":        {func(s *schemas.DynamicScorerSpec, _ *schemas.SyncedConfig) { s.ConfigSyncMode = "Some" }, BadConfig, "spec.configSyncMode"},
		"config URL":  {func(s *schemas.DynamicScorerSpec, _ *schemas.SyncedConfig) { s.ConfigURL = "ftp://x" }, BadConfig, "spec.configURL"},
		"no URL":      {func(s *schemas.DynamicScorerSpec, _ *schemas.SyncedConfig) { s.ConfigURL = "http://%zz" }, BadConfig, "spec.configURL is not a URL"},
		"password":    {func(s *schemas.DynamicScorerSpec, _ *schemas.SyncedConfig) { s.ConfigURL = "http://a:secret@x/" }, BadConfig, "holds a user"},
		"host":        {func(_ *schemas.DynamicScorerSpec, c *schemas.SyncedConfig) { c.Scoring.Host = "scorer:8000" }, BadConfig, "scoring.host"},
		"name":        {func(_ *schemas.DynamicScorerSpec, c *schemas.SyncedConfig) { c.Scoring.Params.Name = "" }, BadConfig, "scoring.params.name"},
		"interval":    {func(_ *schemas.DynamicScorerSpec, c *schemas.SyncedConfig) { c.Scoring.Params.Interval = 1 << 40 }, BadConfig, ""},
		"long":        {func(_ *schemas.DynamicScorerSpec, c *schemas.SyncedConfig) { c.Scoring.Params.Interval = 90_000 }, BadConfig, "scoring.params.interval is 90000"},
		"location":    {func(s *schemas.DynamicScorerSpec, _ *schemas.SyncedConfig) { s.Location = "Mars" }, BadConfig, "spec.location"},
		"destination": {func(s *schemas.DynamicScorerSpec, _ *schemas.SyncedConfig) { s.ScoreDestination = "Mail" }, BadConfig, "spec.scoreDestination"},
		"token":       {func(s *schemas.DynamicScorerSpec, _ *schemas.SyncedConfig) { s.Scoring.Auth.TokenSecretRef.Key = "" }, BadConfig, "spec.scoring.auth"},
		"source type": {func(_ *schemas.DynamicScorerSpec, c *schemas.SyncedConfig) { c.Source.Type = "InfluxDB" }, BadConfig, "source.type"},
		"no source": {func(_ *schemas.DynamicScorerSpec, c *schemas.SyncedConfig) {
			c.Source.Type, c.Source.Params.Query = "", ""
		}, BadConfig, "source.type is empty"},
		"no query": {func(_ *schemas.DynamicScorerSpec, c *schemas.SyncedConfig) { c.Source.Params.Query = " ; " }, BadConfig, "source.params.query is empty"},
		"queries": {func(_ *schemas.DynamicScorerSpec, c *schemas.SyncedConfig) {
			c.Source.Params.Query = strings.Repeat("a;", 33)
		}, BadConfig, "33 queries"},
		"range": {func(_ *schemas.DynamicScorerSpec, c *schemas.SyncedConfig) { c.Source.Params.Range = 1 << 40 }, BadConfig, "source.params.range"},
		"step":  {func(_ *schemas.DynamicScorerSpec, c *schemas.SyncedConfig) { c.Source.Params.Step = 7200 }, BadConfig, "source.params.step"},
		"points": {func(_ *schemas.DynamicScorerSpec, c *schemas.SyncedConfig) {
			c.Source.Params.Range, c.Source.Params.Step = 86400, 1
		}, BadConfig, "11000 points"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := spec(), synced()
			tt.change(s, c)
			got, err := Resolve(s, c)
			if err == nil || err.Reason != tt.reason || !strings.Contains(err.Message, tt.text) {
				t.Fatalf("got %+v, %v, want %s with %q", got, err, tt.reason, tt.text)
			}
			if strings.Contains(err.Message, "secret") {
				t.Errorf("the message tells the password: %s", err.Message)
			}
		})
	}
	if _, err := Resolve(spec(), nil); err == nil || err.Reason != NotSynced {
		t.Errorf("before the first synchronisation: %v, want NotSynced", err)
	}
}

func TestHealthURL(t *testing.T) {
	t.Parallel()
	if got, err := HealthURL("https://a.example:8443/performance/config?x=1"); err != nil || got != "https://a.example:8443/healthz" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := HealthURL("nothing"); err == nil {
		t.Error("no URL is taken for one")
	}
}

func TestObjectName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"sample_my_score":                    "sample-my-score",
		"LLM Forecast (v2)":                  "llm-forecast-v2",
		"a.b":                                "a.b",
		"..a.-b-..c":                         "a.b.c",
		"":                                   "score",
		"___":                                "score",
		"é":                                  "score",
		strings.Repeat("a", 300):             strings.Repeat("a", 253),
		strings.Repeat("a", 252) + "_" + "b": strings.Repeat("a", 252),
	} {
		if got := ObjectName(in); got != want {
			t.Errorf("ObjectName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestOwners(t *testing.T) {
	t.Parallel()
	got := Owners([]Claim{
		{Key: "b/new", Name: "x"}, {Key: "z/old", Name: "x", Had: "x"},
		{Key: "b/second", Name: "y"}, {Key: "a/first", Name: "y", Had: "other"},
		{Key: "c/cel", Name: "gpu", Had: "gpu"}, {Key: "d/unknown"},
	}, func(name string) bool { return name == "gpu" })
	want := map[string]string{"x": "z/old", "y": "a/first"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestMasks(t *testing.T) {
	t.Parallel()
	s := &Scorer{ScoreName: "my_score", Name: "my-score"}
	m := Masks{{"c1", "my_score"}: {}, {"c2", "my-score"}: {}, {"c3", "other"}: {}}
	for cluster, want := range map[string]bool{"c1": true, "c2": true, "c3": false, "c4": false} {
		if m.Has(cluster, s) != want {
			t.Errorf("%s is masked: %v, want %v", cluster, !want, want)
		}
	}
}

func TestTheBreakerOpensAndTries(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	var b Breaker
	for range breakAfter - 1 {
		b.Failed(now, 0)
		if _, open := b.Open(now); open {
			t.Fatal("it opens too soon")
		}
	}
	b.Failed(now, 0)
	until, open := b.Open(now)
	if !open || !until.Equal(now.Add(firstBreak)) {
		t.Fatalf("open %v until %v, want for %v", open, until, firstBreak)
	}
	if _, open = b.Open(until); open {
		t.Fatal("it does not let one try")
	}
	b.Try()
	if _, open = b.Open(until); !open {
		t.Error("it lets a second one try beside the first")
	}
	b.Failed(until, 0.5)
	if again, open := b.Open(until); !open || again.Sub(until) != 2*firstBreak*3/4 {
		t.Errorf("after another failure it is open for %v, want %v", again.Sub(until), 2*firstBreak*3/4)
	}
	for range 50 {
		b.Failed(now, 0)
	}
	if until, _ := b.Open(now); until.Sub(now) != lastBreak {
		t.Errorf("it stays open for %v, want %v at most", until.Sub(now), lastBreak)
	}
	b.Succeeded()
	if _, open := b.Open(now); open {
		t.Error("it stays open after an answer")
	}
}

func TestRetryIsNoLaterThanTheInterval(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 9: 30 * time.Second} {
		if got := Retry(failures, 30*time.Second, 0); got != want {
			t.Errorf("after %d failures %v, want %v", failures, got, want)
		}
	}
	if got := Retry(3, time.Second, 0.5); got != 750*time.Millisecond {
		t.Errorf("with jitter %v, want 750ms", got)
	}
}
