package stack

import (
	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/broker"
	"github.com/spokewire/spokewire/internal/spoke"
	collector "github.com/spokewire/spokewire/services/collector/app"
	hubbridge "github.com/spokewire/spokewire/services/hub-bridge/app"
	inquiry "github.com/spokewire/spokewire/services/inquiry/app"
	llmscorer "github.com/spokewire/spokewire/services/llm-scorer/app"
	placementwriter "github.com/spokewire/spokewire/services/placement-writer/app"
	scorer "github.com/spokewire/spokewire/services/scorer/app"
)

// Commands returns the command line of each process that a stack runs, here
// or in containers.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		broker.Command(), spoke.Command(),
		collector.Command(), scorer.Command(), placementwriter.Command(), hubbridge.Command(), inquiry.Command(),
		llmscorer.Command(),
		prepareCommand(), populateCommand(),
	}
}
