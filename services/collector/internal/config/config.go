// Package config reads the collector's configuration file.
package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Defaults of a source and of the outbox.
const (
	DefaultInterval    = 10 * time.Second
	MinInterval        = 100 * time.Millisecond
	MaxInterval        = time.Hour
	MaxTimeout         = 30 * time.Second // default: the interval, at most 10 s
	DefaultBodyBytes   = 16 << 20
	MaxBodyBytes       = 256 << 20
	DefaultOutboxBytes = 256 << 20
	MinOutboxBytes     = 1 << 20
	maxNameLength      = 253
)

// Formats of a source.
const (
	FormatAuto        = "auto"        // by the answer's Content-Type
	FormatText        = "text"        // Prometheus text, whatever the answer says
	FormatOpenMetrics = "openmetrics" // ditto
)

// Config is the whole configuration.
type Config struct {
	// Cluster is the name that the hub knows this cluster by. Sources that
	// have a ClusterLabel need none.
	Cluster string   `json:"cluster,omitempty"`
	Sources []Source `json:"sources"`
	Outbox  Outbox   `json:"outbox"`
	// DynamicScoring, unless nil, answers the hub's dynamic scorers.
	DynamicScoring *DynamicScoring `json:"dynamicScoring,omitempty"`
}

// Outbox says where snapshots wait until the hub has them.
type Outbox struct {
	Dir string `json:"dir"`
	// MaxBytes bounds the snapshots that wait; beyond it the oldest
	// superseded ones are dropped. Default 256 MiB. The file may grow to
	// about twice that.
	MaxBytes int64 `json:"maxBytes,omitempty"`
}

// Source is one thing to take snapshots of: an endpoint to scrape (URL), or
// one of the other kinds.
type Source struct {
	// Name tells the sources of a cluster apart.
	Name string `json:"name"`
	// URL is that of a Prometheus exposition.
	URL        string      `json:"url,omitempty"`
	Prometheus *Prometheus `json:"prometheus,omitempty"`
	Kubernetes *Kubernetes `json:"kubernetes,omitempty"`
	JSON       *JSON       `json:"json,omitempty"`
	// RemoteWrite and OTLP are sent to.
	RemoteWrite *Receive `json:"remoteWrite,omitempty"`
	OTLP        *Receive `json:"otlp,omitempty"`
	// Interval is from the start of one scrape to that of the next. Default
	// 10s.
	Interval Duration `json:"interval,omitzero"`
	// Timeout is of one scrape as a whole. Default: the interval, at most
	// 10s.
	Timeout Duration `json:"timeout,omitzero"`
	// Format, of a URL, is auto, text or openmetrics. Default auto.
	Format string `json:"format,omitempty"`
	// BearerTokenFile is read at every scrape, for tokens expire.
	BearerTokenFile string   `json:"bearerTokenFile,omitempty"`
	TLS             TLS      `json:"tls,omitzero"`
	Keep            []string `json:"keep,omitempty"`
	Drop            []string `json:"drop,omitempty"`
	Rename          []Rename `json:"rename,omitempty"`
	Labels          Labels   `json:"labels,omitzero"`
	Limits          Limits   `json:"limits,omitzero"`
	// ClusterLabel is the label by which each sample names its cluster, one
	// of Clusters: the source knows something of a whole fleet.
	ClusterLabel string   `json:"clusterLabel,omitempty"`
	Clusters     []string `json:"clusters,omitempty"`
	// Derive makes further samples of counters and histograms.
	Derive *Derive `json:"derive,omitempty"`
}

// TLS is for https targets.
type TLS struct {
	CAFile   string `json:"caFile,omitempty"` // default: the system's CAs
	CertFile string `json:"certFile,omitempty"`
	KeyFile  string `json:"keyFile,omitempty"`
	// InsecureSkipVerify takes any certificate.
	InsecureSkipVerify bool `json:"insecureSkipVerify,omitempty"`
}

// Rename gives the series that From matches as a whole another name; $1
// stands for a group of From.
type Rename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Labels says which labels are taken.
type Labels struct {
	Keep []string `json:"keep,omitempty"` // empty: all
	Drop []string `json:"drop,omitempty"`
}

// Limits bound one scrape.
type Limits struct {
	// BodyBytes bounds the answer, unpacked. Default 16 MiB.
	BodyBytes int64 `json:"bodyBytes,omitempty"`
	// Samples bounds the kept series; a scrape with more fails. Default
	// 10000, which is the most an event takes.
	Samples int `json:"samples,omitempty"`
	// Labels bounds the labels of a series; one with more is left out.
	// Default 64, which is the most an event takes.
	Labels int `json:"labels,omitempty"`
}

// Load reads the file at path and validates it. outboxDir, if not empty,
// takes the place of outbox.dir.
func Load(path, outboxDir string) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("--config: %w", err)
	}
	c, err := parse(data)
	if err == nil {
		c.Outbox.Dir = cmp.Or(outboxDir, c.Outbox.Dir)
		err = c.Validate()
	}
	if err != nil {
		return Config{}, fmt.Errorf("--config %s: %w", path, err)
	}
	return c, nil
}

// parse reads YAML, refuses unknown and repeated fields, and fills in the
// defaults.
func parse(data []byte) (Config, error) {
	var c Config
	if severalDocuments(data) {
		return Config{}, errors.New("holds more than one YAML document, want one")
	}
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return Config{}, fmt.Errorf("cannot be read: %w", err)
	}
	unknown, err := json.UnmarshalStrict(text, &c)
	if err := errors.Join(append(unknown, err)...); err != nil {
		return Config{}, fmt.Errorf("cannot be read: %w", err)
	}
	c.Default()
	return c, nil
}

// severalDocuments reports whether a document ends and another begins; the
// YAML library would not read the second.
func severalDocuments(data []byte) bool {
	begun := false
	for line := range bytes.Lines(data) {
		marker := bytes.HasPrefix(line, []byte("---"))
		if marker && begun {
			return true
		}
		line = bytes.TrimSpace(line)
		begun = begun || marker || len(line) > 0 && line[0] != '#'
	}
	return false
}

// Default fills in what was left out.
func (c *Config) Default() {
	if c.Outbox.MaxBytes == 0 {
		c.Outbox.MaxBytes = DefaultOutboxBytes
	}
	for i := range c.Sources {
		c.Sources[i].Default()
	}
}

// Default fills in what was left out.
func (s *Source) Default() {
	if s.Interval == (Duration{}) {
		s.Interval = Of(DefaultInterval)
	}
	if s.Timeout == (Duration{}) {
		s.Timeout = Of(min(s.Interval.Duration, 10*time.Second))
	}
	if s.Format == "" && s.kind() == kindURL {
		s.Format = FormatAuto
	}
	if s.Derive != nil {
		s.Derive.setDefaults(s.Interval.Duration)
	}
	if _, r := s.Receives(); r != nil && r.ExpireAfter == (Duration{}) {
		r.ExpireAfter = Of(max(DefaultExpireAfter, s.Interval.Duration))
	}
	if s.Prometheus != nil {
		s.Prometheus.setDefaults()
	}
	if s.Kubernetes != nil {
		s.Kubernetes.setDefaults()
	}
	if s.JSON != nil {
		s.JSON.setDefaults()
	}
	if s.Limits.BodyBytes == 0 {
		s.Limits.BodyBytes = DefaultBodyBytes
	}
	if s.Limits.Samples == 0 {
		s.Limits.Samples = schemas.MaxSamples
	}
	if s.Limits.Labels == 0 {
		s.Limits.Labels = schemas.MaxLabels
	}
}
