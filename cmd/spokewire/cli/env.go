package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newEnv() *cobra.Command {
	dir := dataDir()
	c := &cobra.Command{
		Use:     "env",
		Short:   "Print the shell exports of the local stack",
		Long:    "Print the shell exports (NATS_URL, KUBECONFIG) of the stack that `spokewire up` runs.",
		Example: `  eval "$(spokewire env)"`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			text, err := os.ReadFile(filepath.Join(dir, "env"))
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("no stack has run in %s: start one with spokewire up, or name its directory with --data", dir)
			}
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(text)
			return err
		},
	}
	c.Flags().StringVar(&dir, "data", dir, "data directory of the stack")
	return c
}

// dataDir is the local stack's default data directory.
func dataDir() string {
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		state = filepath.Join(os.Getenv("HOME"), ".local", "state")
	}
	return filepath.Join(state, "spokewire")
}
