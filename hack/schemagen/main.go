// Schemagen writes pkg/schemas/json: a JSON Schema (draft 2020-12) for every
// event type, from the payload structs, their comments and the bounds of
// rules.go. Run it by go generate ./pkg/schemas.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() { os.Exit(run()) }

func run() int {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: schemagen PACKAGE-DIR OUTPUT-DIR")
		return 2
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		return 1
	}
	return 0
}

func generate(packageDir, outputDir string) error {
	files, err := Schemas(packageDir)
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(outputDir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
