package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/test/blackbox"
)

// TestFromTheOutside runs the checks that the stack in containers has to
// pass too.
func TestFromTheOutside(t *testing.T) {
	t.Parallel()
	nats := filepath.Join(hubtest.BinDir(), "nats")
	if _, err := os.Stat(nats); err != nil {
		t.Fatalf("%v: run 'make tools' in the repository", err)
	}
	data := t.TempDir()
	start := func() *stack.Stack {
		return startStack(t, func(o *stack.Options) { o.DataDir, o.Spokes, o.OCM = data, 3, true })
	}
	running := start()
	target := targetOf(t, running, nats)
	target.Crash = func(_ context.Context, part string) error { return running.Kill(part) }
	target.Cycle = func(context.Context) (blackbox.Target, error) {
		if err := running.Stop(); err != nil {
			return blackbox.Target{}, err
		}
		running = start()
		return targetOf(t, running, nats), nil
	}
	checks, err := blackbox.Checks(target)
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range checks {
		ok := t.Run(check.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			if err := check.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		if !ok {
			break // each check rests on those before it
		}
	}
}

func targetOf(t *testing.T, s *stack.Stack, nats string) blackbox.Target {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	url, err := s.OperatorURL()
	if err != nil {
		t.Fatal(err)
	}
	return blackbox.Target{
		NATSURL: url, Kubeconfig: s.Kubeconfig(), Spokewire: executable, NATS: nats, OCM: true,
		Parts: append(access.Services(), stack.ProcessNATS),
	}
}
