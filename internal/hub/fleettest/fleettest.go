// Package fleettest gives tests a fleet: a hub and spokes, each a real
// kube-apiserver of its own, on one etcd, with OCM's real controllers and
// agents as far as a test asks for them. Everything is a process on loopback.
package fleettest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/authority"
	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/hub"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/testlog"
)

// Fleet is a running fleet. Its API servers share an authority, so that a
// client's certificate is good for all of them.
type Fleet struct {
	Hub *Server
	// Spokes are spoke-1, spoke-2 and so on.
	Spokes []*Server

	dir       string
	log       *slog.Logger
	authority *authority.Authority
	tokens    *authority.Authority
	etcd      string

	mu     sync.Mutex
	layers [layers][]*child.Child
}

// What is stopped before what: an API server that has lost its etcd hangs for
// minutes.
const (
	layerEtcd = iota
	layerServers
	layerOCM
	layers
)

// Start runs a hub and that many spokes, with OCM's resource definitions,
// until the test ends. The logs are printed if the test fails. It takes some
// ten seconds.
func Start(t testing.TB, spokes int) *Fleet {
	t.Helper()
	f, err := newFleet(t.TempDir(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			testlog.Print(t, f.logs())
		}
	})
	if err := f.start(t.Context(), spokes); err != nil {
		t.Fatal(err)
	}
	return f
}

func newFleet(dir string, log *slog.Logger) (*Fleet, error) {
	now := time.Now()
	ca, err := authority.New("fleet", now)
	if err != nil {
		return nil, err
	}
	tokens, err := authority.New("tokens", now)
	if err != nil {
		return nil, err
	}
	f := &Fleet{dir: dir, log: log, authority: ca, tokens: tokens}
	return f, errors.Join(
		os.Mkdir(f.logs(), 0o700),
		f.writePair("ca", ca.Pair()),
		f.writePair("tokens", tokens.Pair()),
	)
}

// Dir is the fleet's directory: ca.crt and ca.key are of the authority that
// signed for every server and client.
func (f *Fleet) Dir() string { return f.dir }

// Spoke is the one of that name, or nil.
func (f *Fleet) Spoke(name string) *Server {
	i := slices.IndexFunc(f.Spokes, func(s *Server) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return f.Spokes[i]
}

func (f *Fleet) logs() string                         { return f.path("logs") }
func (f *Fleet) path(name string) string              { return filepath.Join(f.dir, name) }
func program(name string) string                      { return filepath.Join(hubtest.BinDir(), name) }
func definitions(parts ...string) string              { return program(filepath.Join(parts...)) }
func (f *Fleet) write(name string, text []byte) error { return os.WriteFile(f.path(name), text, 0o600) }

func (f *Fleet) writePair(name string, pair authority.Pair) error {
	return errors.Join(f.write(name+".crt", pair.Cert), f.write(name+".key", pair.Key))
}

func (f *Fleet) start(ctx context.Context, spokes int) error {
	if err := f.startEtcd(ctx); err != nil {
		return err
	}
	names := []string{"hub"}
	for i := range spokes {
		names = append(names, fmt.Sprintf("spoke-%d", i+1))
	}
	servers := make([]*Server, len(names))
	group, bounded := errgroup.WithContext(ctx)
	for i, name := range names {
		group.Go(func() (err error) {
			servers[i], err = f.startServer(bounded, name)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	f.Hub, f.Spokes = servers[0], servers[1:]
	return f.install(ctx)
}

// install creates OCM's resource definitions on every server.
func (f *Fleet) install(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, dir := range []string{hub.In(hubtest.BinDir()).Definitions, definitions("crds-ocm", "hub")} {
		group.Go(func() error { return hub.InstallDefinitions(ctx, f.Hub.Config, dir) })
	}
	for _, s := range f.Spokes {
		group.Go(func() error { return hub.InstallDefinitions(ctx, s.Config, definitions("crds-ocm", "spoke")) })
	}
	return group.Wait()
}

// run starts a process that ends with the fleet.
func (f *Fleet) run(layer int, p child.Program) error {
	if _, err := os.Stat(p.Path); err != nil {
		return fmt.Errorf("%w: run 'make tools' in the repository", err)
	}
	c, err := child.Start(context.Background(), p, f.logs(), f.log)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.layers[layer] = append(f.layers[layer], c)
	return nil
}

// stop ends one layer after the other.
func (f *Fleet) stop() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, layer := range slices.Backward(f.layers[:]) {
		var group errgroup.Group
		for _, c := range layer {
			group.Go(c.Stop)
		}
		errs = append(errs, group.Wait())
	}
	f.layers = [layers][]*child.Child{}
	return errors.Join(errs...)
}
