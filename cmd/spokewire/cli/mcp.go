package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

const mcpLong = `Offer clusters, scores, decisions, explain, what-if and replay as tools to an LLM
agent, by the Model Context Protocol: on standard input and output, or with
--listen as streamable HTTP on a loopback address.

The tools read. With --allow-writes there are also apply, which asks for a Scorer
or a Placement over the bus, cordon, which cordons, drains or uncordons a cluster,
and rebalance.`

func (a *app) newMCP() *cobra.Command {
	var listen string
	var writes bool
	c := &cobra.Command{
		Use: "mcp", Short: "Offer reading, explaining and what-if to an LLM agent", Long: mcpLong, Args: cobra.NoArgs,
		Example: "  spokewire mcp\n  spokewire mcp --listen 127.0.0.1:8765",
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := checkLoopback(listen); err != nil {
			return err
		}
		return a.withBus(c.Context(), func(ctx context.Context, b *jetstream.Bus) error {
			server := a.mcpServer(b, writes)
			if listen == "" {
				err := server.Run(ctx, &mcp.StdioTransport{})
				if errors.Is(err, context.Canceled) {
					err = nil // Ctrl-C
				}
				return err
			}
			return serveMCP(ctx, c, server, listen)
		})
	}
	c.Flags().StringVar(&listen, "listen", "", "loopback HOST:PORT for streamable HTTP, instead of standard input and output")
	c.Flags().BoolVar(&writes, "allow-writes", false, "offer apply, cordon and rebalance too")
	a.addBus(c)
	c.Flags().Lookup("timeout").Usage = "how long one call may take"
	return c
}

// checkLoopback refuses an address that other machines reach: who connects
// acts as the operator.
func checkLoopback(listen string) error {
	if listen == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen is %s: want a loopback address such as 127.0.0.1:8765, for whoever connects has your rights", listen)
	}
	return nil
}

func serveMCP(ctx context.Context, c *cobra.Command, server *mcp.Server, listen string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{SessionTimeout: time.Hour})
	s := &http.Server{Handler: http.MaxBytesHandler(handler, 1<<20), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() }) // its error is that of connections that end
	defer stop()
	fmt.Fprintf(c.ErrOrStderr(), "serving http://%s\n", listener.Addr())
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
