// Command spokewire is what people use: it runs Spokewire locally, publishes
// metrics, and shows and explains what was decided.
package main

import (
	"os"

	"github.com/spokewire/spokewire/cmd/spokewire/cli"
	"github.com/spokewire/spokewire/internal/process"
)

func main() { os.Exit(process.Main(cli.New())) }
