package capacity

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"
)

// Pod is what is counted of a pod.
type Pod struct {
	metav1.ObjectMeta // namespace, name and UID alone
	// Node is the one that it has, "" if it waits for one.
	Node string
	// Gated: it waits because somebody holds it back, not for a node.
	Gated bool
	// Ended: it gives back what it had.
	Ended bool
	// Requests are what it takes of its node, one of its pods among it.
	Requests Amounts
}

// PodOf returns what is counted of p.
func PodOf(p *corev1.Pod) *Pod {
	// What the kubelet has granted counts as well as what is asked for: a pod
	// that shrinks holds the more of both until it has shrunk.
	requests := amountsOf(resource.PodRequests(p, resource.PodResourcesOptions{
		UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true,
	}))
	requests[corev1.ResourcePods] = 1
	return &Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion},
		Node:       p.Spec.NodeName,
		Gated:      len(p.Spec.SchedulingGates) > 0,
		Ended:      p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed,
		Requests:   requests,
	}
}
