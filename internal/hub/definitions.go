package hub

import (
	"fmt"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// InstallDefinitions creates the resource definitions in dir on a hub that
// runs elsewhere, or brings them up to date, and returns once they are
// served.
func InstallDefinitions(admin *rest.Config, dir string) error {
	_, err := envtest.InstallCRDs(admin, envtest.CRDInstallOptions{
		Paths:              []string{dir},
		ErrorIfPathMissing: true,
		MaxTime:            startTimeout,
	})
	if err != nil {
		return fmt.Errorf("install the resource definitions of %s: %w", dir, err)
	}
	return nil
}
