// Package secretfile writes files that hold secrets.
package secretfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace replaces the file at once by one that its owner alone may read, so
// that whoever reads it meanwhile reads one or the other. The new one has
// mode 0600, whatever the mode of the one before.
func Replace(path string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
