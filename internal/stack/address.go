package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/secretfile"
)

// keptAddress returns the address that a process had at the last start, so
// that other shells and programs find it again. Where somebody else has taken
// that, it says so and returns a new one.
func (s *Stack) keptAddress(ctx context.Context, process string) (string, error) {
	kept, err := s.files.readAddresses()
	if err != nil {
		return "", err
	}
	old := kept[process]
	if old != "" && child.IsFree(ctx, old) {
		return old, nil
	}
	address, err := child.FreeAddress(ctx)
	if err != nil {
		return "", err
	}
	if old != "" {
		s.options.Progress(fmt.Sprintf("%s was at %s, which somebody else uses now: it is at %s from now on, and what knew the old address needs the new one (spokewire env)", process, old, address))
	}
	kept[process] = address
	text, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return "", err
	}
	return address, secretfile.Replace(s.files.addresses(), text)
}

// readAddresses returns the address of each process that keeps one.
func (l layout) readAddresses() (map[string]string, error) {
	kept := map[string]string{}
	text, err := os.ReadFile(l.addresses())
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, fmt.Errorf("%s: %w (delete it to have addresses chosen anew)", l.addresses(), err)
	}
	return kept, nil
}
