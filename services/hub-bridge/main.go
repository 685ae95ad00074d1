// Program hub-bridge carries state between the hub and the bus. See
// docs/hub-bridge.md.
package main

import (
	"os"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/hub-bridge/app"
)

func main() { os.Exit(process.Main(app.Command())) }
