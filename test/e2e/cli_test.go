package e2e

import (
	"os"
	"os/exec"
	"testing"

	"github.com/spokewire/spokewire/internal/stack"
)

// spokewire runs the command line against a stack as its operator and
// returns what it printed.
func spokewire(t *testing.T, s *stack.Stack, args ...string) (string, error) {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	url, err := s.OperatorURL()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), executable, args...)
	c.Env = append(os.Environ(), "NATS_URL="+url, "KUBECONFIG="+s.Kubeconfig())
	out, err := c.CombinedOutput()
	return string(out), err
}
