// Pygen writes the payload classes of the Python package out of the JSON
// Schemas of pkg/schemas. Run it by go generate ./pkg/schemas, behind
// schemagen.
package main

import (
	"fmt"
	"os"
)

func main() { os.Exit(run()) }

func run() int {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pygen SCHEMA-DIR OUTPUT-FILE")
		return 2
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pygen:", err)
		return 1
	}
	return 0
}

func generate(schemaDir, output string) error {
	text, err := Payloads(schemaDir)
	if err != nil {
		return err
	}
	return os.WriteFile(output, text, 0o644)
}
