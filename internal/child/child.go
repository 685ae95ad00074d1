// Package child runs programs as processes of this one's: they are started
// again where they end by themselves, write to a log each, and do not outlive
// it.
package child

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spokewire/spokewire/internal/pause"
)

// Program is what a child runs.
type Program struct {
	Name string
	Path string
	Args []string
	// Env is added to this process's own environment.
	Env []string
}

const (
	stopGrace     = 10 * time.Second
	restartAtMost = 5 * time.Second
	healthyAfter  = 10 * time.Second
)

// Child keeps one program running: it starts it again, with backoff, each
// time that it ends by itself.
type Child struct {
	program Program
	logPath string
	log     *slog.Logger
	cancel  context.CancelFunc
	done    chan struct{}

	mu  sync.Mutex
	cmd *exec.Cmd
}

// Start starts p and returns once the process exists. Its output is
// appended to NAME.log in logDir.
func Start(ctx context.Context, p Program, logDir string, log *slog.Logger) (*Child, error) {
	ctx, cancel := context.WithCancel(ctx)
	c := &Child{
		program: p,
		logPath: filepath.Join(logDir, p.Name+".log"),
		log:     log,
		cancel:  cancel,
		done:    make(chan struct{}),
	}
	wait, err := c.launch(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	go c.supervise(ctx, wait)
	return c, nil
}

func (c *Child) supervise(ctx context.Context, wait func() error) {
	defer close(c.done)
	delay := 100 * time.Millisecond
	for {
		started := time.Now()
		err := wait()
		if ctx.Err() != nil {
			return
		}
		if time.Since(started) > healthyAfter {
			delay = 100 * time.Millisecond
		}
		c.log.Warn("a process ended, starting it again", "process", c.program.Name, "error", err, "log", c.logPath)
		for wait = nil; wait == nil; {
			if !pause.For(ctx, delay+rand.N(delay)) {
				return
			}
			delay = min(2*delay, restartAtMost)
			if wait, err = c.launch(ctx); err != nil {
				c.log.Error("cannot start a process", "process", c.program.Name, "error", err)
			}
		}
	}
}

// launch starts the process; the returned function waits for its end.
func (c *Child) launch(ctx context.Context) (func() error, error) {
	output, err := os.OpenFile(c.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", c.program.Name, err)
	}
	defer output.Close()
	cmd := exec.CommandContext(ctx, c.program.Path, c.program.Args...)
	cmd.Env = append(os.Environ(), c.program.Env...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopGrace
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.program.Name, err)
	}
	c.mu.Lock()
	c.cmd = cmd
	c.mu.Unlock()
	return cmd.Wait, nil
}

// Program is what the child runs.
func (c *Child) Program() Program { return c.program }

// Signal sends s to the process as it runs now.
func (c *Child) Signal(s os.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("signal %s: %w", c.program.Name, err)
	}
	return nil
}

// PID is that of the process as it runs now.
func (c *Child) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cmd.Process.Pid
}

// Stop ends the process for good: SIGTERM, and SIGKILL after a grace.
func (c *Child) Stop() error {
	c.cancel()
	select {
	case <-c.done:
		return nil
	case <-time.After(2 * stopGrace):
		return errors.New(c.program.Name + " does not end")
	}
}
