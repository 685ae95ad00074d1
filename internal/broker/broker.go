// Package broker runs the embedded nats-server as a process of the local
// stack. It takes the same configuration file as the nats-server program.
package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/process"
)

const startTimeout = 30 * time.Second

// Command is the command line of the broker process.
func Command() *cobra.Command {
	var config string
	return process.Command("nats", "Run the embedded NATS server",
		func(fs *pflag.FlagSet) { fs.StringVar(&config, "config", "", "nats-server configuration file") },
		func(ctx context.Context, rt process.Runtime) error { return Run(ctx, config, rt) })
}

// Run serves NATS as the configuration file says until ctx ends, then
// flushes its streams to disk.
func Run(ctx context.Context, config string, rt process.Runtime) error {
	if config == "" {
		return errors.New("--config is missing: name a nats-server configuration file")
	}
	options, err := server.ProcessConfigFile(config)
	if err != nil {
		return fmt.Errorf("--config %s: %w", config, err)
	}
	options.NoSigs = true
	s, err := server.NewServer(options)
	if err != nil {
		return fmt.Errorf("--config %s: %w", config, err)
	}
	s.SetLoggerV2(logger{rt.Log}, false, false, false)
	ready := func() error {
		if !s.Running() || !s.JetStreamEnabled() {
			return errors.New("the server does not serve JetStream")
		}
		return nil
	}
	rt.Health.Live("nats", ready)
	rt.Health.Ready("nats", ready)
	s.Start()
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	if !s.ReadyForConnections(startTimeout) {
		return fmt.Errorf("nats-server is not ready after %s: see its log lines above", startTimeout)
	}
	rt.Log.Info("serving NATS", "address", s.Addr().String(), "store", options.StoreDir)
	<-ctx.Done()
	return nil
}

// logger hands nats-server's log lines on.
type logger struct{ log *slog.Logger }

func (l logger) line(level slog.Level, format string, v []any) {
	l.log.Log(context.Background(), level, "nats-server", "line", fmt.Sprintf(format, v...))
}

// The methods of nats-server's Logger.

func (l logger) Noticef(format string, v ...any) { l.line(slog.LevelInfo, format, v) }
func (l logger) Warnf(format string, v ...any)   { l.line(slog.LevelWarn, format, v) }
func (l logger) Errorf(format string, v ...any)  { l.line(slog.LevelError, format, v) }
func (l logger) Fatalf(format string, v ...any)  { l.line(slog.LevelError, format, v) }
func (l logger) Debugf(format string, v ...any)  { l.line(slog.LevelDebug, format, v) }
func (l logger) Tracef(format string, v ...any)  { l.line(slog.LevelDebug, format, v) }
