package config

import (
	"errors"
	"testing"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestSourcesThatAreSentTo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ source, want string }{
		"on this machine":    {`remoteWrite: {listen: "127.0.0.1:9201"}`, ""},
		"by IPv6":            {`otlp: {listen: "[::1]:4318"}, derive: {rates: [x_total]}`, ""},
		"reached by others":  {`otlp: {listen: "0.0.0.0:4318"}`, "sources[0].otlp.listen"},
		"by name":            {`otlp: {listen: "node:4318"}`, "sources[0].otlp.listen"},
		"with a token":       {`otlp: {listen: ":4318"}, bearerTokenFile: /t`, ""},
		"nowhere":            {`remoteWrite: {}`, "sources[0].remoteWrite.listen"},
		"without a port":     {`remoteWrite: {listen: localhost}`, "sources[0].remoteWrite.listen"},
		"forgotten at once":  {`remoteWrite: {listen: "localhost:1", expireAfter: 1s}`, "sources[0].remoteWrite.expireAfter"},
		"never forgotten":    {`remoteWrite: {listen: "localhost:1", expireAfter: 48h}`, "sources[0].remoteWrite.expireAfter"},
		"both":               {`remoteWrite: {listen: "localhost:1"}, otlp: {listen: "localhost:2"}`, "sources[0].otlp"},
		"of another's field": {`remoteWrite: {listen: "localhost:1"}, format: text`, "sources[0].format"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseAndValidate([]byte("cluster: c\nsources: [{name: s, " + tt.source + "}]\noutbox: {dir: /d}\n"))
			var field *schemas.FieldError
			if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &field) || field.Field != tt.want) {
				t.Errorf("the error is %v, want one of %q", err, tt.want)
			}
		})
	}
}

func TestDynamicScoringNeedsHosts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{hosts: [prom:9090, "*.svc"]}`:    "",
		`{prometheus: "http://prom:9090"}`: "",
		`{}`:                               "dynamicScoring.hosts",
		`{hosts: ["http://prom"]}`:         "dynamicScoring.hosts",
		`{prometheus: "prom:9090"}`:        "dynamicScoring.prometheus",
	} {
		_, err := parseAndValidate([]byte(minimal + "dynamicScoring: " + text + "\n"))
		var field *schemas.FieldError
		if want == "" && err != nil || want != "" && (!errors.As(err, &field) || field.Field != want) {
			t.Errorf("%s: the error is %v, want one of %q", text, err, want)
		}
	}
}
