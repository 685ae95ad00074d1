package kube

import (
	"context"
	"fmt"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kindEvent is that of a Kubernetes Event in the metrics.
const kindEvent = "event"

// CreateEvent creates a Kubernetes Event. One of its name that is there
// already says the same.
func (h *Hub) CreateEvent(ctx context.Context, e *eventsv1.Event) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	start := time.Now()
	_, err := h.events.Events(e.Namespace).Create(ctx, e, metav1.CreateOptions{})
	h.metrics.wrote(kindEvent, verbCreate, start, err)
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create an Event on %s %s/%s: %w", e.Regarding.Kind, e.Regarding.Namespace, e.Regarding.Name, err)
	}
	return nil
}
