// Package stack runs the whole of Spokewire on this machine: NATS, a hub, the
// services, and spokes with something to do, each as a process of its own.
package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/secretfile"
)

// Names of the processes that are not services.
const (
	ProcessNATS = "nats"
	ProcessOCM  = "ocm-placement"
)

// Stack is a running stack.
type Stack struct {
	options  Options
	files    layout
	children map[string]*child.Child
	order    []string
	teardown []step

	natsAddress string
	natsURL     func(user string) (string, error)
	hub         hubAccess
	spokeURLs   map[string]string
	health      map[string]string // base URL of each service's listener
}

// step is one named part of the teardown.
type step struct {
	name string
	stop func() error
}

const readyTimeout = time.Minute

// Up starts a stack and returns once every part of it is ready. If that
// fails, what was started is stopped again.
func Up(ctx context.Context, o Options) (_ *Stack, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(o.DataDir)
	if err != nil {
		return nil, err
	}
	s := &Stack{options: o, files: layout(dir), children: map[string]*child.Child{}, spokeURLs: map[string]string{}, health: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := s.files.create(); err != nil {
		return nil, err
	}
	held, err := s.files.lock(ctx)
	if err != nil {
		return nil, err
	}
	s.defers("lock", held.Close)
	if err := os.Remove(EnvFile(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, part := range s.parts() {
		o.Progress("starting " + part.what)
		if err := part.start(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w (logs are in %s)", part.what, err, s.files.logs())
		}
	}
	return s, s.writeEnv()
}

type part struct {
	what  string
	start func(context.Context) error
}

// parts are what the options ask for, in the order of their start.
func (s *Stack) parts() []part {
	parts := []part{{"NATS", s.startNATS}}
	if s.options.Hub != None {
		parts = append(parts, part{"the hub", s.startHub})
	}
	parts = append(parts, part{"the services", s.startServices})
	if s.options.spokes() > 0 {
		parts = append(parts, part{"the spokes", s.startSpokes})
	}
	if s.options.OCM {
		parts = append(parts, part{"OCM's placement controller", s.startOCM})
	}
	return parts
}

// defers adds a part to what Stop does, to be done before what was added
// earlier.
func (s *Stack) defers(name string, stop func() error) {
	s.teardown = append(s.teardown, step{name, stop})
}

// Stop ends every process in the reverse of the order of their start.
func (s *Stack) Stop() error {
	var errs []error
	for _, part := range slices.Backward(s.teardown) {
		if err := part.stop(); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", part.name, err))
		}
	}
	s.teardown = nil
	return errors.Join(errs...)
}

// start runs p until Stop.
func (s *Stack) start(p child.Program) error {
	c, err := child.Start(context.Background(), p, s.files.logs(), s.options.Log)
	if err != nil {
		return err
	}
	if _, again := s.children[p.Name]; !again {
		s.order = append(s.order, p.Name)
	}
	s.children[p.Name] = c
	s.defers(p.Name, c.Stop)
	return nil
}

// self is a process that runs one of spokewire's own parts, by the program of
// that part alone where the options say where it is. The first of args names
// the part.
func (s *Stack) self(name string, env []string, args ...string) child.Program {
	args = slices.Concat(args, s.options.Args[name])
	if dir := s.options.ServiceDir; dir != "" {
		if path := filepath.Join(dir, args[0]); isProgram(path) {
			return child.Program{Name: name, Path: path, Args: args[1:], Env: env}
		}
	}
	return child.Program{Name: name, Path: s.options.Executable, Args: append([]string{"run"}, args...), Env: env}
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Processes names the stack's processes in the order of their start.
func (s *Stack) Processes() []string { return slices.Clone(s.order) }

// PID returns the process id of one of them, or 0.
func (s *Stack) PID(name string) int {
	if c, ok := s.children[name]; ok {
		return c.PID()
	}
	return 0
}

// Kill ends a process with SIGKILL. The stack starts it again.
func (s *Stack) Kill(name string) error {
	c, ok := s.children[name]
	if !ok {
		return fmt.Errorf("the stack has no process %q, only %v", name, slices.Sorted(maps.Keys(s.children)))
	}
	return c.Signal(syscall.SIGKILL)
}

// SpokeURL is where a cluster's workload takes work and shows its metrics.
func (s *Stack) SpokeURL(cluster string) string { return s.spokeURLs[cluster] }

// Clusters names the clusters that the stack created.
func (s *Stack) Clusters() []string { return slices.Sorted(maps.Keys(s.spokeURLs)) }

// NATSAddress is where NATS listens, without credentials.
func (s *Stack) NATSAddress() string { return s.natsAddress }

// OperatorURL is the NATS URL of the user who may publish metrics and
// configuration and read every stream.
func (s *Stack) OperatorURL() (string, error) { return s.natsURL(access.Operator) }

// Kubeconfig is the path of the hub administrator's kubeconfig, or "".
func (s *Stack) Kubeconfig() string { return s.hub.admin }

// HubAddress is the hub's URL, or "".
func (s *Stack) HubAddress() string { return s.hub.address }

// writeEnv writes the shell exports that `spokewire env` prints, until Stop.
func (s *Stack) writeEnv() error {
	url, err := s.OperatorURL()
	if err != nil {
		return err
	}
	text := "export NATS_URL='" + url + "'\n"
	if s.hub.admin != "" {
		text += "export KUBECONFIG='" + s.hub.admin + "'\n"
	}
	file := EnvFile(string(s.files))
	s.defers("env", func() error { return os.Remove(file) })
	return secretfile.Replace(file, []byte(text))
}
