package config_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/llm-scorer/internal/config"
)

const scorer = "{name: gpu, prometheus: 'http://p:9090', queries: [up], rubric: r}"

func TestFieldsAreNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"model: {url: 'http://m/v1', name: m}\nscorers: [" + scorer + "]":                                                                 "",
		"model: {name: m}\nscorers: [" + scorer + "]":                                                                                     "model.url",
		"model: {url: 'http://u:p@m/v1', name: m}\nscorers: [" + scorer + "]":                                                             "model.url",
		"model: {url: 'http://m/v1'}\nscorers: [" + scorer + "]":                                                                          "model.name",
		"model: {url: 'http://m/v1', name: m}":                                                                                            "scorers",
		"model: {url: 'http://m/v1', name: m}\nscorers: [" + scorer + "," + scorer + "]":                                                  "scorers[1].name",
		"model: {url: 'http://m/v1', name: m}\nscorers: [{name: GPU}]":                                                                    "scorers[0].name",
		"model: {url: 'http://m/v1', name: m}\nscorers: [{name: gpu}]":                                                                    "scorers[0].rubric",
		"model: {url: 'http://m/v1', name: m}\nscorers: [{name: gpu, rubric: r}]":                                                         "scorers[0].queries",
		"model: {url: 'http://m/v1', name: m}\nscorers: [{name: gpu, rubric: r, queries: [up]}]":                                          "scorers[0].prometheus",
		"model: {url: 'http://m/v1', name: m}\nscorers: [{name: gpu, rubric: r, queries: ['a;b'], prometheus: 'http://p'}]":               "scorers[0].queries[0]",
		"model: {url: 'http://m/v1', name: m}\nscorers: [{name: gpu, rubric: r, queries: [a], prometheus: 'http://p', stepSeconds: 900}]": "scorers[0].rangeSeconds",
	} {
		_, err := config.Parse([]byte(text))
		var field *schemas.FieldError
		if want == "" && err != nil || want != "" && (!errors.As(err, &field) || field.Field != want) {
			t.Errorf("%s\nthe error is %v, want one of %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"budgetPerMinute: -1\nmodel: {url: 'http://m/v1', name: m}\nscorers: [" + scorer + "]": "budgetPerMinute",
		"colour: red": "colour",
	} {
		if _, err := config.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nthe error is %v, want one of %q", text, err, want)
		}
	}
}

// The example that users copy is valid.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/llm-scorers.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```yaml\nlisten:.*?```").Find(page)
	text := strings.TrimSuffix(strings.TrimPrefix(string(example), "```yaml\n"), "```")
	c, err := config.Parse([]byte(text))
	if err != nil || len(c.Scorers) == 0 {
		t.Errorf("%v in:\n%s", err, text)
	}
}
