// Package k8s holds the manifests that Spokewire is deployed with, so that
// the local stack and the tests apply the very files that users do.
package k8s

import (
	"embed"
	"io/fs"
)

//go:embed hub-bridge/*.yaml
var files embed.FS

// HubBridge holds the manifests of the hub-bridge: serviceaccount.yaml,
// clusterrole.yaml, role.yaml and bindings.yaml.
func HubBridge() (fs.FS, error) { return fs.Sub(files, "hub-bridge") }
