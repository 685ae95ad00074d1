// Package rig builds what benchmarks measure: a stack in a temporary
// directory, a fleet on its hub, and eyes on its processes.
package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"

	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// Env is what every benchmark needs of its caller.
type Env struct {
	// Executable is the spokewire program, BinDir holds the hub's.
	Executable, BinDir string
	// ServiceDir holds the services' own programs; empty: the services are
	// run by Executable.
	ServiceDir string
	// Progress is where the steps are told.
	Progress io.Writer
	// ProfileDir is where CPU profiles of the services go; empty: none.
	ProfileDir string
	// Keep leaves the stack's directory with its logs.
	Keep bool
}

// Service is the command line that runs a service by itself.
func (e Env) Service(name string) []string {
	if path := filepath.Join(e.ServiceDir, name); e.ServiceDir != "" {
		if _, err := os.Stat(path); err == nil {
			return []string{path}
		}
	}
	return []string{e.Executable, "run", name}
}

// Rig is a running stack.
type Rig struct {
	*stack.Stack
	Env Env
	// Bus is the operator's connection, URL its address with the password.
	Bus *jetstream.Bus
	URL string
	// Hub is an administrator's client without limits; nil without a hub.
	Hub clusterclient.Interface

	dir   string
	began time.Time
	log   *slog.Logger
}

// Start starts a stack of no clusters.
func Start(ctx context.Context, env Env, change func(*stack.Options)) (_ *Rig, err error) {
	dir, err := os.MkdirTemp("", "spokewire-bench-")
	if err != nil {
		return nil, err
	}
	r := &Rig{Env: env, dir: dir, began: time.Now()}
	r.log = slog.New(slog.NewTextHandler(env.Progress, &slog.HandlerOptions{Level: slog.LevelError}))
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%w (logs are in %s)", err, dir), r.stop())
		}
	}()
	o := stack.DefaultOptions()
	o.Executable, o.BinDir, o.ServiceDir, o.DataDir, o.Spokes = env.Executable, env.BinDir, env.ServiceDir, dir, 0
	o.Log, o.Progress = r.log, func(step string) { r.Say("%s", step) }
	change(&o)
	if env.ProfileDir != "" {
		o.Args = withProfiles(o.Args)
	}
	if r.Stack, err = stack.Up(ctx, o); err != nil {
		return nil, err
	}
	if r.URL, err = r.OperatorURL(); err != nil {
		return nil, err
	}
	if r.Bus, err = jetstream.Connect(ctx, jetstream.Options{URL: r.URL, Name: "bench", Log: r.log}); err != nil {
		return nil, err
	}
	if r.Kubeconfig() == "" {
		return r, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", r.Kubeconfig())
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	r.Hub, err = clusterclient.NewForConfig(config)
	return r, err
}

// Say tells of a step.
func (r *Rig) Say(format string, args ...any) {
	fmt.Fprintf(r.Env.Progress, "%6.1fs  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// Close stops everything. The directory stays where err is one.
func (r *Rig) Close(err error) error {
	stopped := r.stop()
	if err != nil || r.Env.Keep {
		fmt.Fprintf(r.Env.Progress, "logs are in %s\n", r.dir)
		return errors.Join(err, stopped)
	}
	return errors.Join(stopped, os.RemoveAll(r.dir))
}

func (r *Rig) stop() error {
	if r.Bus != nil {
		r.Bus.Close()
	}
	if r.Stack != nil {
		return r.Stop()
	}
	return nil
}

// Poll calls check, with a pause between, until it says true, for at most that
// long.
func Poll(ctx context.Context, what string, most, between time.Duration, check func() (bool, error)) error {
	ctx, cancel := pause.Within(ctx, most)
	defer cancel()
	for {
		done, err := check()
		if done || err != nil {
			return err
		}
		if !pause.For(ctx, between) {
			return fmt.Errorf("%s: %w", what, pause.Why(ctx))
		}
	}
}
