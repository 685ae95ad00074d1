package capacity

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NoPool is the pool of nodes that have no label of one.
const NoPool = "none"

// PoolLabels returns the labels by which known platforms name a node's pool.
// The first that a node has counts.
func PoolLabels() []string {
	return []string{
		"cloud.google.com/gke-nodepool",
		"eks.amazonaws.com/nodegroup",
		"karpenter.sh/nodepool",
		"alpha.eksctl.io/nodegroup-name",
		"kubernetes.azure.com/agentpool",
		"hypershift.openshift.io/nodePool",
		"doks.digitalocean.com/node-pool",
		"ibm-cloud.kubernetes.io/worker-pool-name",
		"alibabacloud.com/nodepool-id",
		"lke.linode.com/pool-id",
		"k8s.scaleway.com/pool-name",
		"node.cluster.x-k8s.io/pool",
	}
}

// Node is what is counted of a node.
type Node struct {
	metav1.ObjectMeta // name and UID alone
	Pool              string
	// Ready: its kubelet says so.
	Ready bool
	// Open: new pods can come to it. It is ready, not cordoned, and not kept
	// free by Kubernetes or its autoscalers.
	Open        bool
	Allocatable Amounts
}

// NodeOf returns what is counted of n. Its pool is named by the first of
// poolLabels that it has.
func NodeOf(n *corev1.Node, poolLabels []string) *Node {
	ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	return &Node{
		ObjectMeta:  metav1.ObjectMeta{Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion},
		Pool:        poolOf(n, poolLabels),
		Ready:       ready,
		Open:        ready && !n.Spec.Unschedulable && !slices.ContainsFunc(n.Spec.Taints, closes),
		Allocatable: amountsOf(n.Status.Allocatable),
	}
}

func poolOf(n *corev1.Node, labels []string) string {
	for _, label := range labels {
		if pool := n.Labels[label]; pool != "" {
			return pool
		}
	}
	return NoPool
}

// closes reports whether a taint closes a node for every usual pod. Taints
// that keep a node for certain pods, such as those of GPU nodes, do not:
// those are the pods that ask what is free there.
func closes(t corev1.Taint) bool {
	if t.Effect == corev1.TaintEffectPreferNoSchedule {
		return false
	}
	for _, prefix := range []string{
		"node.kubernetes.io/",               // not ready, unreachable, under pressure, cordoned
		"node.cloudprovider.kubernetes.io/", // not yet initialised, shut down
		"node-role.kubernetes.io/",          // the control plane's
		"ToBeDeletedByClusterAutoscaler",
		"karpenter.sh/disrupt", // disrupted, disruption
	} {
		if strings.HasPrefix(t.Key, prefix) {
			return true
		}
	}
	return false
}
