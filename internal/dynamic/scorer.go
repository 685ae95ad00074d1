package dynamic

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Bounds and defaults of a scorer.
const (
	DefaultInterval = 30 * time.Second
	MinInterval     = time.Second
	MaxInterval     = 24 * time.Hour
	// DefaultFormat names a score's one item after the score.
	DefaultFormat = "${scoreName}"
	// defaultPath is that of the scoring API.
	defaultPath = "/score"
	// validIntervals is for how many intervals an answer holds: two may fail.
	validIntervals = 3
	minValidity    = 15 * time.Second
)

// Scorer is a scorer that makes sense: whom to ask what, and what becomes of
// the answer.
type Scorer struct {
	// ScoreName is the score's name as its author writes it, Name that of the
	// score events and of the object on the hub.
	ScoreName, Name string
	// URL is where to post.
	URL string
	// Token is sent along, nil for none.
	Token *schemas.TokenRef
	// Interval is from one answer to the next.
	Interval time.Duration
	// Internal says that the API is in each cluster.
	Internal bool
	// HubOff keeps the scores on the bus.
	HubOff bool
	// Format is that of the items' names.
	Format string
	// Source is what the API is given, nil for nothing.
	Source *Source
}

// Source is a query of each cluster's Prometheus: over Range in steps of
// Step, or, where Range is 0, at its now.
type Source struct {
	URL         string
	Token       *schemas.TokenRef
	Queries     []string
	Range, Step time.Duration
}

// Validity is how long an answer holds.
func (s *Scorer) Validity() time.Duration { return max(validIntervals*s.Interval, minValidity) }

// Resolve returns what spec comes to, given what the scorer's configuration
// endpoint said last (nil: nothing yet), which comes first where it says
// something, as OCM has it.
func Resolve(spec *schemas.DynamicScorerSpec, synced *schemas.SyncedConfig) (*Scorer, *Failure) {
	r := resolver{spec: spec}
	switch spec.ConfigSyncMode {
	case schemas.SyncNone:
	case schemas.SyncFull:
		if synced == nil {
			return nil, Failf(NotSynced, "spec.configURL %s was not read yet, and spec.configSyncMode is Full", spec.ConfigURL)
		}
		r.synced = *synced
	default:
		return nil, Failf(BadConfig, "spec.configSyncMode is %q, want Full or None", spec.ConfigSyncMode)
	}
	if spec.Source != nil {
		r.source = *spec.Source
	}
	if spec.Scoring != nil {
		r.scoring = *spec.Scoring
	}
	if err := r.base(); err != nil {
		return nil, err
	}
	return r.scorer()
}

// resolver joins the two configurations.
type resolver struct {
	spec    *schemas.DynamicScorerSpec
	source  schemas.DynamicSource
	scoring schemas.DynamicScoring
	synced  schemas.SyncedConfig // empty where it does not count
	host    string               // of the configURL
}

// base takes the host of the configURL, by which OCM checks the scorer's
// health also where it reads no configuration.
func (r *resolver) base() *Failure {
	u, err := endpoint("spec.configURL", r.spec.ConfigURL)
	if err != nil {
		return err
	}
	r.host = u.Scheme + "://" + u.Host
	return nil
}

// HealthURL is where the health of a scorer is asked that has a configURL.
func HealthURL(configURL string) (string, *Failure) {
	u, err := endpoint("spec.configURL", configURL)
	if err != nil {
		return "", err
	}
	return u.Scheme + "://" + u.Host + "/healthz", nil
}

func (r *resolver) scorer() (*Scorer, *Failure) {
	s := &Scorer{Format: cmp.Or(r.spec.ScoreDimensionFormat, DefaultFormat)}
	if r.scoring.Params != nil {
		s.ScoreName, s.Interval = r.scoring.Params.Name, seconds(r.scoring.Params.Interval)
	}
	s.ScoreName = cmp.Or(r.synced.Scoring.Params.Name, s.ScoreName)
	if synced := seconds(r.synced.Scoring.Params.Interval); synced != 0 {
		s.Interval = synced
	}
	if s.Interval == 0 {
		s.Interval = DefaultInterval
	}
	s.Name = ObjectName(s.ScoreName)
	var err *Failure
	switch {
	case s.ScoreName == "":
		return nil, Failf(BadConfig, "scoring.params.name is empty: nothing says what the score is called")
	case s.Interval < MinInterval || s.Interval > MaxInterval:
		return nil, Failf(BadConfig, "scoring.params.interval is %d, want %d to %d seconds", s.Interval/time.Second, MinInterval/time.Second, MaxInterval/time.Second)
	}
	if s.Internal, err = either("spec.location", r.spec.Location, schemas.LocationExternal, schemas.LocationInternal); err != nil {
		return nil, err
	}
	if s.HubOff, err = either("spec.scoreDestination", r.spec.ScoreDestination, schemas.DestinationAddOnScore, schemas.DestinationNone); err != nil {
		return nil, err
	}
	if s.Token, err = token("spec.scoring.auth", r.scoring.Auth); err != nil {
		return nil, err
	}
	host, path := cmp.Or(r.synced.Scoring.Host, r.scoring.Host, r.host), cmp.Or(r.synced.Scoring.Path, r.scoring.Path, defaultPath)
	if s.URL, err = joined("scoring", host, path); err != nil {
		return nil, err
	}
	s.Source, err = r.query()
	return s, err
}

// query returns the source, nil where there is none.
func (r *resolver) query() (*Source, *Failure) {
	kind := cmp.Or(r.synced.Source.Type, r.source.Type)
	var params schemas.DynamicSourceParams
	if r.source.Params != nil {
		params = *r.source.Params
	}
	params.Query = cmp.Or(r.synced.Source.Params.Query, params.Query)
	if n := r.synced.Source.Params.Range; n > 0 {
		params.Range = n
	}
	if n := r.synced.Source.Params.Step; n > 0 {
		params.Step = n
	}
	switch {
	case strings.EqualFold(kind, schemas.SourceNone):
		return nil, nil
	case kind != "" && !strings.EqualFold(kind, schemas.SourcePrometheus):
		return nil, Failf(BadConfig, "source.type is %q, want Prometheus or None", kind)
	case kind == "" && params.Query == "":
		return nil, Failf(BadConfig, "source.type is empty and there is no source.params.query: want Prometheus or None")
	}
	host, path := cmp.Or(r.synced.Source.Host, r.source.Host, r.host), cmp.Or(r.synced.Source.Path, r.source.Path)
	if params.Range == 0 || strings.HasSuffix(strings.TrimSuffix(path, "/"), instantPath) {
		params.Range, params.Step = 0, 0
	}
	s := &Source{Range: seconds(params.Range), Step: seconds(params.Step)}
	for query := range strings.SplitSeq(params.Query, ";") {
		if query = strings.TrimSpace(query); query != "" {
			s.Queries = append(s.Queries, query)
		}
	}
	if err := s.check(params); err != nil {
		return nil, err
	}
	var err *Failure
	if s.Token, err = token("spec.source.auth", r.source.Auth); err != nil {
		return nil, err
	}
	s.URL, err = joined("source", host, path)
	return s, err
}

// Bounds of a range query.
const (
	MaxQueries = 32
	MaxPoints  = 11_000 // of a series, as Prometheus has it
	maxRange   = 31 * 24 * time.Hour
	// instantPath is where Prometheus answers an instant query; a scorer that
	// names it wants no range.
	instantPath = "/api/v1/query"
)

func (s *Source) check(params schemas.DynamicSourceParams) *Failure {
	switch {
	case len(s.Queries) == 0:
		return Failf(BadConfig, "source.params.query is empty")
	case len(s.Queries) > MaxQueries:
		return Failf(BadConfig, "source.params.query holds %d queries, at most %d are taken", len(s.Queries), MaxQueries)
	case len(params.Query) > schemas.MaxDynamicQuery:
		return Failf(BadConfig, "source.params.query has %d bytes, at most %d are taken", len(params.Query), schemas.MaxDynamicQuery)
	case s.Range < 0 || s.Range > maxRange:
		return Failf(BadConfig, "source.params.range is %d, want 1 to %d seconds, or 0 for the present alone", params.Range, maxRange/time.Second)
	case s.Range == 0:
		return nil
	case s.Step <= 0 || s.Step > s.Range:
		return Failf(BadConfig, "source.params.step is %d, want 1 to source.params.range, %d", params.Step, params.Range)
	case s.Range/s.Step > MaxPoints:
		return Failf(BadConfig, "source.params: %d seconds in steps of %d are more than %d points", params.Range, params.Step, MaxPoints)
	}
	return nil
}

// endpoint parses a URL that may be called. A password in it would stand on
// the bus.
func endpoint(field, text string) (*url.URL, *Failure) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, Failf(BadConfig, "%s is empty", field)
	case err != nil:
		return nil, Failf(BadConfig, "%s is not a URL", field) // whose error would repeat it
	case u.User != nil:
		return nil, Failf(BadConfig, "%s holds a user: name a token by auth.tokenSecretRef instead", field)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, Failf(BadConfig, "%s is %.200q, want http://HOST[:PORT]/PATH or https://…", field, text)
	}
	return u, nil
}

func joined(field, host, path string) (string, *Failure) {
	u, err := endpoint(field+".host", host)
	if err != nil {
		return "", err
	}
	return u.JoinPath(path).String(), nil
}

func token(field string, auth *schemas.DynamicAuth) (*schemas.TokenRef, *Failure) {
	if auth == nil {
		return nil, nil
	}
	ref := auth.TokenSecretRef
	if ref.Name == "" || ref.Key == "" {
		return nil, Failf(BadConfig, "%s.tokenSecretRef lacks its name or key", field)
	}
	return &ref, nil
}

// either reports whether value is the second of two; the first is the default.
func either(field, value, first, second string) (bool, *Failure) {
	switch value {
	case "", first:
		return false, nil
	case second:
		return true, nil
	}
	return false, Failf(BadConfig, "%s is %q, want %s or %s", field, value, first, second)
}

// seconds is negative for what makes no sense, so that it is refused.
func seconds(n int64) time.Duration {
	if n < 0 || n > int64(maxRange/time.Second) {
		return -time.Second
	}
	return time.Duration(n) * time.Second
}
