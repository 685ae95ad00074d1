package docs_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const documentPath = "asyncapi.yaml"

// document is asyncapi.yaml as far as the tests read it.
type document struct {
	DedupeWindow string             `json:"x-dedupe-window"`
	Streams      map[string]stream  `json:"x-streams"`
	Channels     map[string]channel `json:"channels"`
	Operations   map[string]operation
	Components   struct {
		Messages        map[string]message        `json:"messages"`
		SecuritySchemes map[string]securityScheme `json:"securitySchemes"`
	} `json:"components"`
}

type stream struct {
	Subjects          []string `json:"subjects"`
	MaxMsgsPerSubject int64    `json:"maxMsgsPerSubject"`
	MaxAge            string   `json:"maxAge"`
	MaxBytes          int64    `json:"maxBytes"`
	Discard           string   `json:"discard"`
	Ingest            bool     `json:"ingest"`
	MirroredIn        []string `json:"mirroredIn"`
}

type channel struct {
	Address    string         `json:"address"`
	Stream     string         `json:"x-stream"`
	Parameters map[string]any `json:"parameters"`
	Messages   map[string]ref `json:"messages"`
}

type operation struct {
	Action   string `json:"action"`
	User     string `json:"x-user"`
	Channel  ref    `json:"channel"`
	Messages []ref  `json:"messages"`
	Security []ref  `json:"security"`
}

type message struct {
	Name    string `json:"name"`
	Payload struct {
		Schema ref `json:"schema"`
	} `json:"payload"`
}

type securityScheme struct {
	Account string `json:"x-account"`
}

type ref struct {
	Ref string `json:"$ref"`
}

// last is the last part of the reference.
func (r ref) last() string { return r.Ref[strings.LastIndexByte(r.Ref, '/')+1:] }

// load reads the document, both typed and as it is.
func load(t *testing.T) (document, map[string]any) {
	t.Helper()
	text, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	return d, tree
}

// subjectOf replaces the parameters of an address by values.
func subjectOf(c channel, values map[string]string) string {
	subject := c.Address
	for name := range c.Parameters {
		value, ok := values[name]
		if !ok {
			value = "x"
		}
		subject = strings.ReplaceAll(subject, "{"+name+"}", value)
	}
	return subject
}

// matches reports whether subject is one of filter's.
func matches(filter, subject string) bool {
	f, s := strings.Split(filter, "."), strings.Split(subject, ".")
	for i, token := range f {
		if token == ">" {
			return len(s) > i
		}
		if i >= len(s) || token != "*" && token != s[i] {
			return false
		}
	}
	return len(f) == len(s)
}
