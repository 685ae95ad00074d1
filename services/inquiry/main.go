// Command inquiry answers questions about decisions. See docs/ask.md.
package main

import (
	"os"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/inquiry/app"
)

func main() { os.Exit(process.Main(app.Command())) }
