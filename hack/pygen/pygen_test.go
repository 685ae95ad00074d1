package main

import (
	"os"
	"testing"
)

const (
	schemaDir = "../../pkg/schemas/json"
	module    = "../../sdk/python/src/spokewire/payloads.py"
)

func TestPayloadsAreCurrent(t *testing.T) {
	t.Parallel()
	want, err := Payloads(schemaDir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not what the JSON Schemas say: run go generate ./pkg/schemas", module)
	}
}

func TestPythonName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"uid": "uid", "validFor": "valid_for", "originLagMillis": "origin_lag_millis", "from": "from_"} {
		w := &writer{}
		if got := w.pythonName(name); got != want || w.err != nil {
			t.Errorf("%s is %s, %v, want %s", name, got, w.err, want)
		}
	}
	for _, name := range []string{"a_b", "valid_for"} {
		w := &writer{}
		if w.pythonName(name); w.err == nil {
			t.Errorf("%s is taken, which no rule leads back to", name)
		}
	}
}
