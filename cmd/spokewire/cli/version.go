package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is what the Go toolchain wrote into the program.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) newVersion() *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version and how this program was built",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			b := newBuild(info)
			return a.print(c.OutOrStdout(), b, b.write)
		},
	}
	a.addOutput(c)
	return c
}

func newBuild(info *debug.BuildInfo) build {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) write(w io.Writer) error {
	revision := ""
	if b.Revision != "" {
		revision = " " + b.Revision
		if b.Modified {
			revision += " with changes"
		}
		revision += " of " + b.Time
	}
	_, err := fmt.Fprintf(w, "spokewire %s%s (%s, %s)\n", b.Version, revision, b.Go, b.Platform)
	return err
}
