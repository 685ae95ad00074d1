package e2e

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/internal/stack"
)

// found is how a shell that stays open finds the stack.
type found struct{ nats, hub, kubeconfig string }

func find(t *testing.T, s *stack.Stack) found {
	t.Helper()
	url, err := s.OperatorURL()
	if err != nil {
		t.Fatal(err)
	}
	return found{nats: url, hub: s.HubAddress(), kubeconfig: s.Kubeconfig()}
}

// TestARestartedStackIsFoundWhereItWas: shells and publishers that were set
// up for a stack go on after it was stopped and started again, unless
// somebody has taken its port, which is said.
func TestARestartedStackIsFoundWhereItWas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var said strings.Builder
	up := func(hub string) *stack.Stack {
		t.Helper()
		return startStack(t, func(o *stack.Options) {
			o.DataDir, o.Hub, o.Spokes = dir, hub, 0
			o.Progress = func(step string) { said.WriteString(step + "\n") }
		})
	}
	if _, err := stack.ReadEnv(dir); !errors.Is(err, stack.ErrNeverRan) {
		t.Errorf("before the first start: %v, want ErrNeverRan", err)
	}
	s := up(stack.Embedded)
	first := find(t, s)
	kubeconfig, err := os.ReadFile(first.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	stop := func() {
		t.Helper()
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := stack.ReadEnv(dir); !errors.Is(err, stack.ErrNotRunning) {
			t.Errorf("after the stop: %v, want ErrNotRunning", err)
		}
	}
	stop()

	s = up(stack.Embedded)
	if again := find(t, s); again != first {
		t.Errorf("after a restart the stack is at %+v, want %+v", again, first)
	}
	if env, err := stack.ReadEnv(dir); err != nil || !strings.Contains(string(env), first.nats) {
		t.Errorf("ReadEnv: %q, %v, want %s in it", env, err, first.nats)
	}
	old := t.TempDir() + "/kubeconfig"
	if err := os.WriteFile(old, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hubBy(t, old).core.Discovery().ServerVersion(); err != nil {
		t.Errorf("a copy of the first kubeconfig: %v", err)
	}
	stop()

	address := strings.TrimPrefix(s.NATSAddress(), "nats://")
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s = up(stack.None)
	if s.NATSAddress() == "nats://"+address {
		t.Errorf("NATS is at %s, where the test listens", address)
	}
	if want := "nats was at " + address + ", which somebody else uses now"; !strings.Contains(said.String(), want) {
		t.Errorf("the start says\n%swant %q", said.String(), want)
	}
}
