// Package hub knows the parts of a hub that runs on this machine without a
// cluster underneath: kube-apiserver, etcd and OCM's resource definitions.
package hub

import (
	"fmt"
	"os"
	"path/filepath"
)

// Programs says where the hub's parts are.
type Programs struct {
	APIServer, Etcd string
	// Definitions is the directory of the YAML of OCM's custom resource
	// definitions.
	Definitions string
	// SIGDefinitions is that of SIG-Multicluster's.
	SIGDefinitions string
}

// In finds the parts in binDir, as make puts them there.
func In(binDir string) Programs {
	return Programs{
		APIServer:      filepath.Join(binDir, "kube-apiserver"),
		Etcd:           filepath.Join(binDir, "etcd"),
		Definitions:    filepath.Join(binDir, "crds"),
		SIGDefinitions: filepath.Join(binDir, "crds-sig"),
	}
}

// Validate says what is missing and how to get it.
func (p Programs) Validate() error {
	for _, path := range []string{p.APIServer, p.Etcd, p.Definitions} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w: run 'make hub' in the repository", err)
		}
	}
	return nil
}
