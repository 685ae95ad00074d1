package stack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/client-go/kubernetes"

	"github.com/spokewire/spokewire/internal/child"
)

// ocmNamespace is where OCM's hub controllers expect to live.
const ocmNamespace = "open-cluster-management-hub"

// startOCM runs OCM's real placement controller, built on first use.
func (s *Stack) startOCM(ctx context.Context) error {
	program := filepath.Join(s.options.BinDir, "placement")
	if _, err := os.Stat(program); err != nil {
		s.options.Progress("building OCM's placement controller (once, some minutes)")
		build := exec.CommandContext(ctx, "make", "-C", filepath.Dir(s.options.BinDir), program)
		if output, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s\nbuild it with 'make %s' in the repository", err, output, program)
		}
	}
	core, err := kubernetes.NewForConfig(s.hub.config)
	if err != nil {
		return err
	}
	if err := ensureNamespace(ctx, core, ocmNamespace); err != nil {
		return err
	}
	address, err := child.FreeAddress(ctx)
	if err != nil {
		return err
	}
	return s.start(child.Program{Name: ProcessOCM, Path: program, Args: []string{
		"controller", "--kubeconfig", s.hub.admin, "--namespace", ocmNamespace, "--disable-leader-election", "--listen", address,
	}})
}
