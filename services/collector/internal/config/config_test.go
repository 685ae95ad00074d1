package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

const minimal = `
cluster: c
sources: [{name: s, url: "http://127.0.0.1:9100/metrics"}]
outbox: {dir: /var/lib/spokewire}
`

func parseAndValidate(data []byte) (Config, error) {
	c, err := parse(data)
	if err != nil {
		return c, err
	}
	return c, c.Validate()
}

func TestExample(t *testing.T) {
	t.Parallel()
	c, err := Load("testdata/collector.yaml", "")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Sources) != 2 || c.Sources[1].TLS.CAFile == "" || c.Sources[1].Rename[1].To != "gpu_$1" {
		t.Errorf("read %+v", c)
	}
	if _, err := parseAndValidate([]byte("# one document\n---\n" + minimal)); err != nil {
		t.Errorf("a marker at the top: %v", err)
	}
	if c, err = Load("testdata/collector.yaml", "/elsewhere"); err != nil || c.Outbox.Dir != "/elsewhere" {
		t.Errorf("outbox is %+v, %v", c.Outbox, err)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := parseAndValidate([]byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	s := c.Sources[0]
	if s.Interval.Duration != DefaultInterval || s.Timeout.Duration != 10*time.Second || s.Format != FormatAuto {
		t.Errorf("source is %+v", s)
	}
	if s.Limits != (Limits{BodyBytes: DefaultBodyBytes, Samples: schemas.MaxSamples, Labels: schemas.MaxLabels}) {
		t.Errorf("limits are %+v", s.Limits)
	}
	if c.Outbox.MaxBytes != DefaultOutboxBytes {
		t.Errorf("outbox is %+v", c.Outbox)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	source := func(fields string) string {
		return "cluster: c\noutbox: {dir: /d}\nsources: [{name: s, url: \"http://h/\", " + fields + "}]\n"
	}
	prometheus := func(fields string) string {
		return "cluster: c\noutbox: {dir: /d}\nsources: [{name: s, " + fields + "}]\n"
	}
	tests := map[string]struct{ file, want string }{
		"empty":                  {"", "cluster is missing"},
		"two documents":          {"cluster: a\n---\ncluster: b\n", "more than one YAML document"},
		"not YAML":               {"a: [", "cannot be read"},
		"unknown field":          {minimal + "clusters: [x]\n", `unknown field "clusters"`},
		"unknown inner field":    {source("intervall: 1s"), `unknown field "sources[0].intervall"`},
		"field twice":            {"cluster: a\ncluster: b\n", `"cluster" already set`},
		"wrong type":             {"cluster: [a]\n", "cluster"},
		"cluster with slash":     {"cluster: a/b\n", `cluster is "a/b"`},
		"no sources":             {"cluster: c\n", "sources is empty"},
		"no name":                {"cluster: c\nsources: [{url: \"http://h/\"}]\n", "sources[0].name is missing"},
		"no url":                 {"cluster: c\nsources: [{name: s}]\n", "sources[0].url is missing"},
		"url of a file":          {"cluster: c\nsources: [{name: s, url: \"file:///etc/passwd\"}]\n", `sources[0].url is "file:`},
		"same name twice":        {"cluster: c\nsources: [{name: s, url: \"http://h/\"}, {name: s, url: \"http://i/\"}]\n", `sources[1].name is "s", as is sources[0].name`},
		"no outbox":              {"cluster: c\nsources: [{name: s, url: \"http://h/\"}]\n", "outbox.dir is missing"},
		"tiny outbox":            {"cluster: c\nsources: [{name: s, url: \"http://h/\"}]\noutbox: {dir: /d, maxBytes: 1}\n", "outbox.maxBytes is 1"},
		"interval a number":      {source("interval: 5"), "sources[0].interval is 5, want a duration"},
		"interval a word":        {source("interval: soon"), `sources[0].interval is "soon"`},
		"interval too short":     {source("interval: 1ms"), "sources[0].interval is 1ms"},
		"negative timeout":       {source("timeout: -1s"), "sources[0].timeout is -1s"},
		"timeout too long":       {source("timeout: 1h"), "sources[0].timeout is 1h0m0s"},
		"unknown format":         {source("format: json"), `sources[0].format is "json"`},
		"half a certificate":     {source("tls: {certFile: x}"), "sources[0].tls has one of"},
		"bad keep":               {source(`keep: ["a", "("]`), `sources[0].keep[1] is "("`},
		"bad drop":               {source(`drop: ["["]`), `sources[0].drop[0] is "["`},
		"bad rename":             {source(`rename: [{from: "*", to: b}]`), `sources[0].rename[0].from is "*"`},
		"rename to nothing":      {source(`rename: [{from: a}]`), `sources[0].rename[0] needs from and to`},
		"a trick in keep":        {source(`keep: ["a)|(b"]`), `sources[0].keep[0] is "a)|(b"`},
		"too many samples":       {source(`limits: {samples: 1000000}`), "sources[0].limits.samples is 1000000"},
		"too many labels":        {source(`limits: {labels: 1000}`), "sources[0].limits.labels is 1000"},
		"negative body":          {source(`limits: {bodyBytes: -1}`), "sources[0].limits.bodyBytes is -1"},
		"two kinds":              {source("prometheus: {url: \"http://p\", queries: [{query: up}]}"), "sources[0].prometheus is given beside url"},
		"a format of queries":    {prometheus("format: text, prometheus: {url: \"http://p\", queries: [{query: up}]}"), "sources[0].format is of a url alone"},
		"no queries":             {prometheus("prometheus: {url: \"http://p\"}"), "sources[0].prometheus.queries is empty"},
		"a query without text":   {prometheus("prometheus: {url: \"http://p\", queries: [{name: a}]}"), "sources[0].prometheus.queries[0].query is missing"},
		"no server":              {prometheus("prometheus: {queries: [{query: up}]}"), "sources[0].prometheus.url is missing"},
		"a server of files":      {prometheus("prometheus: {url: \"file:///x\", queries: [{query: up}]}"), `sources[0].prometheus.url is "file:`},
		"a bad name":             {prometheus("prometheus: {url: \"http://p\", queries: [{query: up, name: a-b}]}"), "sources[0].prometheus.queries[0].name \"a-b\" is not"},
		"step without range":     {prometheus("prometheus: {url: \"http://p\", queries: [{query: up, step: 1s}]}"), "queries[0].range is missing"},
		"step beyond range":      {prometheus("prometheus: {url: \"http://p\", queries: [{query: up, range: 1s, step: 2s}]}"), "queries[0].range is 1s, want at least one step"},
		"too fine a step":        {prometheus("prometheus: {url: \"http://p\", queries: [{query: up, range: 24h, step: 10ms}]}"), "queries[0].step is 10ms"},
		"unknown aggregate":      {prometheus("prometheus: {url: \"http://p\", queries: [{query: up, range: 1h, aggregate: median}]}"), `queries[0].aggregate is "median"`},
		"a range of words":       {prometheus("prometheus: {url: \"http://p\", queries: [{query: up, range: soon}]}"), `queries[0].range is "soon"`},
		"a token for Kubernetes": {prometheus("kubernetes: {}, bearerTokenFile: /t"), "sources[0].kubernetes takes its credentials from"},
		"a selector of words":    {prometheus("kubernetes: {nodes: \"a b\"}"), "sources[0].kubernetes.nodes is \"a b\""},
		"a pool without a label": {prometheus("kubernetes: {poolLabels: [\"a b\"]}"), "sources[0].kubernetes.poolLabels[0] is \"a b\""},
		"a password in no url":   {"cluster: c\nsources: [{name: s, url: \"http://u:secret@h:x/\"}]\n", "sources[0].url is not a URL: "},
		"a password in url":      {"cluster: c\nsources: [{name: s, url: \"ftp://u:secret@h/\"}]\n", "u:xxxxx@h"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseAndValidate([]byte(tt.file))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one that holds %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells a password: %v", err)
			}
		})
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	t.Parallel()
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), ""); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "--config") {
		t.Errorf("error is %v", err)
	}
}

func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("testdata/collector.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte(minimal))
	f.Add([]byte("cluster: c\nsources: [{name: s, url: \"http://h/\", keep: [\"(\"]}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseAndValidate(data)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a word")
			}
			return
		}
		// What is accepted can be used.
		for i := range c.Sources {
			if _, err := c.Sources[i].Rules(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
