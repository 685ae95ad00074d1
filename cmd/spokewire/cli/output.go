package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// Values of --output.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

func (a *app) validate() error {
	switch a.output {
	case outputTable, outputJSON, outputYAML:
	default:
		return fmt.Errorf("--output is %q, want table, json or yaml", a.output)
	}
	if a.timeout <= 0 {
		return fmt.Errorf("--timeout is %s, want more than 0", a.timeout)
	}
	return nil
}

// print writes v as --output says; human writes it for people.
func (a *app) print(w io.Writer, v any, human func(io.Writer) error) error {
	switch a.output {
	case outputJSON:
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(v)
	case outputYAML:
		return printYAML(w, v)
	}
	return human(w)
}

// printLine is print for one of a stream of values: a line of JSON, or a
// YAML document of its own.
func (a *app) printLine(w io.Writer, v any, human func(io.Writer) error) error {
	switch a.output {
	case outputJSON:
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(v)
	case outputYAML:
		if _, err := io.WriteString(w, "---\n"); err != nil {
			return err
		}
		return printYAML(w, v)
	}
	return human(w)
}

func printYAML(w io.Writer, v any) error {
	text, err := yaml.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
