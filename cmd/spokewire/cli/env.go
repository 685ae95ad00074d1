package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/stack"
)

func (a *app) newEnv() *cobra.Command {
	dir := stack.DefaultDataDir()
	c := &cobra.Command{
		Use:     "env",
		Short:   "Print the shell exports of the local stack",
		Long:    "Print the shell exports (NATS_URL, KUBECONFIG) of the stack that `spokewire up` runs, with -o json or yaml the same as data.",
		Example: `  eval "$(spokewire env)"`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			text, err := stack.ReadEnv(dir)
			switch {
			case errors.Is(err, stack.ErrNeverRan):
				return fmt.Errorf("no stack has run in %s: start one with spokewire up, or name its directory with --data", dir)
			case errors.Is(err, stack.ErrNotRunning):
				return fmt.Errorf("the stack in %s is not running: start it with spokewire up (it keeps its addresses and passwords)", dir)
			case errors.Is(err, stack.ErrStarting):
				return fmt.Errorf("the stack in %s is still starting: wait until spokewire up says ready", dir)
			case err != nil:
				return err
			}
			return a.print(c.OutOrStdout(), exports(string(text)), func(w io.Writer) error {
				_, err := w.Write(text)
				return err
			})
		},
	}
	c.Flags().StringVar(&dir, "data", dir, "data directory of the stack")
	a.addOutput(c)
	return c
}

// exports reads the shell exports that a stack writes: NAME='VALUE', one a
// line.
func exports(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if found {
			values[name] = strings.TrimSuffix(strings.TrimPrefix(value, "'"), "'")
		}
	}
	return values
}
