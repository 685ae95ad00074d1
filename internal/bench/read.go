package bench

import (
	"errors"
	"fmt"
	"io/fs"
)

// ReadDir reads the results in a directory, the files *.json, by name.
func ReadDir(dir fs.FS) ([]Named, error) {
	names, err := fs.Glob(dir, "*.json")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("there are no results (*.json): run 'make bench'")
	}
	var results []Named
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		r, err := Decode(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		results = append(results, Named{Name: name, Result: r})
	}
	return results, nil
}
