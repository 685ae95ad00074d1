package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/pkg/schemas"
)

const (
	packageDir = "../../pkg/schemas"
	outputDir  = packageDir + "/json"
)

func TestSchemasAreCurrent(t *testing.T) {
	t.Parallel()
	want, err := Schemas(packageDir)
	if err != nil {
		t.Fatal(err)
	}
	have, err := filepath.Glob(filepath.Join(outputDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range have {
		if _, known := want[filepath.Base(path)]; !known {
			t.Errorf("%s is of no event type: remove it", path)
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(outputDir, name))
		if err != nil {
			t.Error(err)
		} else if string(got) != string(text) {
			t.Errorf("%s is not what the structs say: run go generate ./pkg/schemas", name)
		}
	}
}

// A rule for a field that was renamed would be lost in silence.
func TestRulesNameFields(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, eventType := range schemas.Types() {
		text, err := os.ReadFile(filepath.Join(outputDir, eventType+".json"))
		if err != nil {
			t.Fatal(err)
		}
		for rule := range fieldRules {
			owner, field, _ := strings.Cut(rule, ".")
			has := strings.Contains(string(text), `"title": "`+owner+`"`) || strings.Contains(string(text), `"`+owner+`": {`)
			seen[rule] = seen[rule] || has && strings.Contains(string(text), `"`+field+`": {`)
		}
	}
	for rule := range fieldRules {
		if !seen[rule] {
			t.Errorf("the rule for %s is for no field of any schema", rule)
		}
	}
}
