// Command collector collects metrics of a cluster and forwards
// their snapshots to the hub.
package main

import (
	"os"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/collector/app"
)

func main() { os.Exit(process.Main(app.Command())) }
