// Package config reads the llm-scorer's configuration file.
package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/bound"
	"github.com/spokewire/spokewire/internal/llm"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Config is the whole configuration.
type Config struct {
	// Listen is HOST:PORT. Default 127.0.0.1:8085.
	Listen string `json:"listen,omitempty"`
	// TokenFile holds the token that callers need, "" for none. It is read for
	// every call.
	TokenFile string `json:"tokenFile,omitempty"`
	Model     Model  `json:"model"`
	// BudgetPerMinute is how often the model is asked at most. Default 60.
	BudgetPerMinute int      `json:"budgetPerMinute,omitempty"`
	Records         Records  `json:"records,omitzero"`
	Scorers         []Scorer `json:"scorers"`
}

// Model is who is asked.
type Model struct {
	// URL is where the API begins, for instance http://ollama:11434/v1.
	URL string `json:"url"`
	// Name is the model's there.
	Name string `json:"name"`
	// TokenFile holds the token for it, "" for none. It is read for every
	// question.
	TokenFile string `json:"tokenFile,omitempty"`
	// TimeoutSeconds is of one answer. Default 25.
	TimeoutSeconds int `json:"timeoutSeconds,omitempty"`
	// Concurrency is how many questions are asked at a time. Default 2.
	Concurrency int `json:"concurrency,omitempty"`
}

// Records are the questions that were asked, and their answers.
type Records struct {
	// Dir keeps them through restarts, "" does not.
	Dir string `json:"dir,omitempty"`
	// Max is how many are kept. Default 10000.
	Max int `json:"max,omitempty"`
}

// Scorer is one score that is given.
type Scorer struct {
	// Name is the score's: lower case letters, digits, _ and -.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Queries are evaluated in each cluster; what they yield is shown to the
	// model.
	Queries []string `json:"queries"`
	// RangeSeconds and StepSeconds are how far back they look, and how closely.
	// Default 300 and 60.
	RangeSeconds int64 `json:"rangeSeconds,omitempty"`
	StepSeconds  int64 `json:"stepSeconds,omitempty"`
	// Prometheus is its address in the clusters.
	Prometheus string `json:"prometheus"`
	// IntervalSeconds is how often a cluster is looked at. Default 60.
	IntervalSeconds int64 `json:"intervalSeconds,omitempty"`
	// Rubric says what is good and what is bad.
	Rubric string `json:"rubric"`
}

// Load reads the file at path, fills in the defaults and validates it.
func Load(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("--config: %w", err)
	}
	c, err := Parse(text)
	if err != nil {
		return Config{}, fmt.Errorf("--config %s: %w", path, err)
	}
	return c, nil
}

// Parse is Load of a text. Unknown fields are refused.
func Parse(text []byte) (Config, error) {
	var c Config
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return c, fmt.Errorf("cannot be read: %w", err)
	}
	c.setDefaults()
	return c, c.Validate()
}

func (c *Config) setDefaults() {
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:8085")
	c.BudgetPerMinute = cmp.Or(c.BudgetPerMinute, 60)
	c.Records.Max = cmp.Or(c.Records.Max, 10_000)
	c.Model.TimeoutSeconds, c.Model.Concurrency = cmp.Or(c.Model.TimeoutSeconds, 25), cmp.Or(c.Model.Concurrency, 2)
	for i := range c.Scorers {
		s := &c.Scorers[i]
		s.IntervalSeconds, s.RangeSeconds, s.StepSeconds = cmp.Or(s.IntervalSeconds, 60), cmp.Or(s.RangeSeconds, 300), cmp.Or(s.StepSeconds, 60)
	}
}

var scoreName = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$`)

// Validate names the field that is wrong.
func (c *Config) Validate() error {
	if err := cmp.Or(
		bound.Within("budgetPerMinute", c.BudgetPerMinute, 1, 100_000),
		bound.Within("records.max", c.Records.Max, 1, 1_000_000),
		bound.Within("model.timeoutSeconds", c.Model.TimeoutSeconds, 1, 300),
		bound.Within("model.concurrency", c.Model.Concurrency, 1, 64),
		checkURL("model.url", c.Model.URL),
	); err != nil {
		return err
	}
	switch {
	case c.Model.Name == "":
		return &schemas.FieldError{Field: "model.name", Reason: "is missing"}
	case len(c.Scorers) == 0:
		return &schemas.FieldError{Field: "scorers", Reason: "is empty: name at least one"}
	}
	seen := map[string]bool{}
	for i := range c.Scorers {
		s := &c.Scorers[i]
		if err := s.validate(fmt.Sprintf("scorers[%d].", i)); err != nil {
			return err
		}
		if seen[s.Name] {
			return &schemas.FieldError{Field: fmt.Sprintf("scorers[%d].name", i), Reason: fmt.Sprintf("repeats %q", s.Name)}
		}
		seen[s.Name] = true
	}
	return nil
}

func (s *Scorer) validate(at string) error {
	wrong := func(field, reason string) error { return &schemas.FieldError{Field: at + field, Reason: reason} }
	switch {
	case !scoreName.MatchString(s.Name):
		return wrong("name", fmt.Sprintf("is %q, want lower case letters, digits, _ and -", s.Name))
	case strings.TrimSpace(s.Rubric) == "":
		return wrong("rubric", "is missing: say what is good and what is bad")
	case len(s.Rubric) > llm.MaxRubric:
		return wrong("rubric", fmt.Sprintf("has %d bytes, at most %d are taken", len(s.Rubric), llm.MaxRubric))
	case len(s.Queries) == 0:
		return wrong("queries", "is empty")
	case s.IntervalSeconds < 1:
		return wrong("intervalSeconds", fmt.Sprintf("is %d, want at least 1", s.IntervalSeconds))
	case s.StepSeconds < 1 || s.RangeSeconds < s.StepSeconds:
		return wrong("rangeSeconds", fmt.Sprintf("is %d in steps of %d: want at least one step, of 1 or more", s.RangeSeconds, s.StepSeconds))
	}
	for i, query := range s.Queries {
		if strings.TrimSpace(query) == "" || strings.Contains(query, ";") {
			return wrong(fmt.Sprintf("queries[%d]", i), fmt.Sprintf("is %q, want one query, without a semicolon", query))
		}
	}
	return checkURL(at+"prometheus", s.Prometheus)
}

// Synced is what the scoring API says of the scorer.
func (s *Scorer) Synced() ([]byte, error) {
	c := schemas.SyncedConfig{Name: s.Name, Description: s.Description}
	c.Source = schemas.SyncedSource{Type: schemas.SourcePrometheus, Host: s.Prometheus, Path: "/api/v1/query_range"}
	c.Source.Params = schemas.DynamicSourceParams{Query: strings.Join(s.Queries, ";"), Range: s.RangeSeconds, Step: s.StepSeconds}
	c.Scoring = schemas.SyncedScoring{Path: "/scorers/" + s.Name + "/score", Params: schemas.DynamicScoringParams{Name: s.Name, Interval: s.IntervalSeconds}}
	return json.Marshal(c)
}

func checkURL(field, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return &schemas.FieldError{Field: field, Reason: "is no http:// or https:// address without a password"}
	}
	return nil
}
