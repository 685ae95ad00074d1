// Package starter writes a scoring service for OCM's dynamic scoring to begin
// with, in Go or Python: small, tested, and ready to be deployed. What it
// writes are the programs below it, which are built and tested as they are.
package starter

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed golang python
var programs embed.FS

// name is what the programs call themselves.
const name = "headroom"

// Languages a service can be written in.
const (
	Go     = "go"
	Python = "python"
)

// sources are the directories that the files of a language come from. Both
// have the same configuration and manifest.
var sources = map[string][]string{
	Go:     {"golang"},
	Python: {"python", "golang/config.json", "golang/dynamicscorer.yaml"},
}

// Languages returns the languages, sorted.
func Languages() []string { return slices.Sorted(maps.Keys(sources)) }

// Files returns the files of a service called name, by their paths. An error
// names the argument.
func Files(language, called string) (map[string][]byte, error) {
	if !regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`).MatchString(called) {
		return nil, fmt.Errorf("the name %q is not one that an object on the hub can have: want at most 63 lower-case letters, digits and '-'", called)
	}
	from, known := sources[language]
	if !known {
		return nil, fmt.Errorf("the language is %q, want %s", language, strings.Join(Languages(), " or "))
	}
	files := map[string][]byte{}
	for _, source := range from {
		err := fs.WalkDir(programs, source, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := programs.ReadFile(p)
			files[path.Base(p)] = bytes.ReplaceAll(text, []byte(name), []byte(called))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if language == Go {
		files["go.mod"] = []byte("module " + called + "\n\ngo 1.24\n")
	}
	return files, nil
}

// Write writes files into dir, which it makes unless it is there and empty,
// and returns their paths, sorted.
func Write(dir string, files map[string][]byte) ([]string, error) {
	there, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case len(there) > 0:
		return nil, fmt.Errorf("%s is not empty: it holds %s", dir, there[0].Name())
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(files))
	for _, file := range names {
		if err := os.WriteFile(filepath.Join(dir, file), files[file], 0o644); err != nil {
			return nil, err
		}
	}
	return names, nil
}
