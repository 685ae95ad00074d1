// Package k8s holds the manifests that Spokewire is deployed with, so that
// the local stack and the tests apply the very files that users do.
package k8s

import (
	"embed"
	"io/fs"
)

//go:embed collector/*.yaml dynamic-scoring/*.yaml hub-bridge/*.yaml interoperability/*.yaml
var files embed.FS

// HubBridge holds the manifests of the hub-bridge: serviceaccount.yaml,
// clusterrole.yaml, role.yaml and bindings.yaml.
func HubBridge() (fs.FS, error) { return fs.Sub(files, "hub-bridge") }

// DynamicScoring holds the resource definitions of OCM's dynamic scoring, for
// hubs that do not have upstream's.
func DynamicScoring() (fs.FS, error) { return fs.Sub(files, "dynamic-scoring") }

// Interoperability holds what the hub-bridge may do besides where it is
// asked for: slices.yaml for --sig-placement-decisions, profiles.yaml for
// --write-cluster-profiles and inventory.yaml for --inventory.
func Interoperability() (fs.FS, error) { return fs.Sub(files, "interoperability") }

// Collector holds clusterrole.yaml, which a collector that watches its cluster
// needs there.
func Collector() (fs.FS, error) { return fs.Sub(files, "collector") }
