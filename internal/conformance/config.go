package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kinds of sources.
const (
	prometheus = "Prometheus"
	none       = "None"
)

// maxPoints is how many points of a series Prometheus gives at most.
const maxPoints = 11_000

// config is what a service says of itself.
type config struct {
	Name   string `json:"name"`
	Source struct {
		Type   string `json:"type"`
		Host   string `json:"host"`
		Path   string `json:"path"`
		Params struct {
			Query string `json:"query"`
			Range int    `json:"range"`
			Step  int    `json:"step"`
		} `json:"params"`
	} `json:"source"`
	Scoring struct {
		Host   string `json:"host"`
		Path   string `json:"path"`
		Params struct {
			Name     string `json:"name"`
			Interval int    `json:"interval"`
		} `json:"params"`
	} `json:"scoring"`
}

// readConfig returns the first field that is wrong.
func readConfig(body []byte) (*config, error) {
	var c config
	if err := json.Unmarshal(body, &c); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return nil, fmt.Errorf("%s is a JSON %s, want %s", orWhole(wrong.Field), wrong.Value, wrong.Type)
		}
		return nil, fmt.Errorf("it is not JSON: %w%s", err, shown(body))
	}
	switch {
	case c.Name == "":
		return nil, errors.New("name is missing")
	case !strings.HasPrefix(c.Scoring.Path, "/"):
		return nil, fmt.Errorf("scoring.path is %q, want a path such as /scoring", c.Scoring.Path)
	case c.Scoring.Params.Name == "":
		return nil, errors.New("scoring.params.name is missing: it is the name of the score")
	case c.Scoring.Params.Interval < 1:
		return nil, fmt.Errorf("scoring.params.interval is %d, want seconds", c.Scoring.Params.Interval)
	}
	return &c, c.checkSource()
}

func orWhole(field string) string {
	if field == "" {
		return "the whole"
	}
	return field
}

func (c *config) checkSource() error {
	p := c.Source.Params
	switch {
	case c.Source.Type == none:
		return nil
	case c.Source.Type != prometheus:
		return fmt.Errorf("source.type is %q, want %s or %s", c.Source.Type, prometheus, none)
	case p.Query == "":
		return errors.New("source.params.query is missing")
	case !strings.HasPrefix(c.Source.Path, "/"):
		return fmt.Errorf("source.path is %q, want a path such as /api/v1/query_range", c.Source.Path)
	case p.Range < 1 || p.Step < 1:
		return fmt.Errorf("source.params.range is %d and step is %d, want seconds", p.Range, p.Step)
	case p.Range/p.Step > maxPoints:
		return fmt.Errorf("source.params.range of %d s by steps of %d s is more than the %d points that Prometheus gives", p.Range, p.Step, maxPoints)
	}
	return nil
}

// hasSeries reports whether requests have data.
func (c *config) hasSeries() bool { return c.Source.Type == prometheus }

func (c *config) interval() time.Duration {
	return time.Duration(c.Scoring.Params.Interval) * time.Second
}

func (c *config) summary(host string) string {
	text := fmt.Sprintf("score %s every %d s, source %s", c.Scoring.Params.Name, c.Scoring.Params.Interval, c.Source.Type)
	if c.Scoring.Host != "" {
		text += fmt.Sprintf("; scores are asked at %s, and here at %s", c.Scoring.Host, host)
	}
	return text
}
