package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/stack"
)

func newUp() *cobra.Command {
	o := stack.DefaultOptions()
	c := &cobra.Command{
		Use:   "up",
		Short: "Run NATS, a hub, the services and a few clusters on this machine",
		Long: `Run the whole of Spokewire on this machine until Ctrl-C: NATS, a real
Kubernetes API server as the hub, the services, and clusters with something to
do. Each is a process of its own; its log is in DATA/logs. When everything
runs, one line that begins with "ready" is printed.

With --hub PATH an existing hub is used, and nothing is created on it unless
--spokes is given.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if err := withProgram(&o, c.ErrOrStderr()); err != nil {
				return err
			}
			s, err := stack.Up(ctx, o)
			if err != nil {
				return err
			}
			if other := s.OtherWriter(ctx); other != "" {
				fmt.Fprintf(c.ErrOrStderr(), "warning: this stack and its hub know nothing of each other, and will not until another bridge is gone: the hub's Lease is %s. Stop the other bridge, or name another hub\n", other)
			}
			fmt.Fprintln(c.OutOrStdout(), readyLine(s, o.DataDir))
			<-ctx.Done()
			stop() // a second Ctrl-C ends at once
			fmt.Fprintln(c.ErrOrStderr(), "stopping")
			return s.Stop()
		},
	}
	o.AddFlags(c.Flags())
	return c
}

// readyLine says where everything is.
func readyLine(s *stack.Stack, dataDir string) string {
	line := "ready nats=" + s.NATSAddress()
	if address := s.HubAddress(); address != "" {
		line += " hub=" + address
	}
	return line + " data=" + dataDir + "  (in another shell: eval \"$(" + os.Args[0] + " env --data " + dataDir + ")\")"
}

// withProgram has o's processes run this very program, and its steps and
// warnings told to w.
func withProgram(o *stack.Options, w io.Writer) error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	began := time.Now()
	o.Executable, o.BinDir = executable, binDir(executable)
	o.Log = slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
	o.Progress = func(step string) { fmt.Fprintf(w, "%5.1fs  %s\n", time.Since(began).Seconds(), step) }
	return o.Validate()
}

// binDir is where the hub's programs are: SPOKEWIRE_BIN, or beside this
// program.
func binDir(executable string) string {
	if dir := os.Getenv("SPOKEWIRE_BIN"); dir != "" {
		return dir
	}
	return filepath.Dir(executable)
}
