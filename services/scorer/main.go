// Command scorer computes scores of clusters. See docs/scorer.md.
package main

import (
	"os"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/scorer/app"
)

func main() { os.Exit(process.Main(app.Command())) }
