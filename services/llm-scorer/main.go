// Command llm-scorer scores clusters by what a language model says of their
// metrics. See docs/llm-scorers.md.
package main

import (
	"os"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/llm-scorer/app"
)

func main() { os.Exit(process.Main(app.Command())) }
