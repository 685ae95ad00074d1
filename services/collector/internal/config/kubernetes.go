package config

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/spokewire/spokewire/services/collector/internal/capacity"
)

// Kubernetes counts what a cluster has and what is free in it.
type Kubernetes struct {
	// Kubeconfig is a file's path. Default: the pod's service account.
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Nodes is a label selector. Default: all nodes.
	Nodes string `json:"nodes,omitempty"`
	// PoolLabels are the labels that name a node's pool; the first that it
	// has counts. Default: those of known platforms.
	PoolLabels []string `json:"poolLabels,omitempty"`
}

func (k *Kubernetes) setDefaults() {
	if len(k.PoolLabels) == 0 {
		k.PoolLabels = capacity.PoolLabels()
	}
}

func (k *Kubernetes) validate() error {
	if _, err := labels.Parse(k.Nodes); err != nil {
		return fieldErrorf("nodes", "is %q, want a label selector: %v", k.Nodes, err)
	}
	for i, label := range k.PoolLabels {
		if wrong := validation.IsQualifiedName(label); len(wrong) > 0 {
			return fieldErrorf(fmt.Sprintf("poolLabels[%d]", i), "is %q: %s", label, wrong[0])
		}
	}
	return nil
}
