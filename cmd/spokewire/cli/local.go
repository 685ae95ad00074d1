package cli

import "github.com/spf13/cobra"

// stackCommands are those that run Spokewire on this machine.
func stackCommands() []*cobra.Command {
	return []*cobra.Command{newUp(), newRun(), newDemo()}
}
