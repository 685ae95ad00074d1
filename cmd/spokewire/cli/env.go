package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/stack"
)

func newEnv() *cobra.Command {
	dir := stack.DefaultDataDir()
	c := &cobra.Command{
		Use:     "env",
		Short:   "Print the shell exports of the local stack",
		Long:    "Print the shell exports (NATS_URL, KUBECONFIG) of the stack that `spokewire up` runs.",
		Example: `  eval "$(spokewire env)"`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			text, err := os.ReadFile(stack.EnvFile(dir))
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
