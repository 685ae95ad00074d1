// Command placement-writer decides Placements. See docs/placement.md.
package main

import (
	"os"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/placement-writer/app"
)

func main() { os.Exit(process.Main(app.Command())) }
