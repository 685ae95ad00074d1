package kube

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
)

func resultOf(err error) string {
	if err == nil {
		return "ok"
	}
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return "Failed"
}

// Stale reports whether err says that the write was planned from an old
// state: read again and plan anew.
func Stale(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}

// NoNamespace reports whether err says that the object's namespace does not
// exist, or is going.
func NoNamespace(err error) bool {
	if apierrors.HasStatusCause(err, "NamespaceTerminating") {
		return true
	}
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces"
}

// Refusal turns an API server's answer that the object is not valid into a
// *events.BadInput which names the field; nil for any other error.
func Refusal(err error) *events.BadInput {
	if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) && !apierrors.IsRequestEntityTooLargeError(err) {
		return nil
	}
	bad := &events.BadInput{Reason: bridge.ReasonRefusedByHub, Err: fmt.Errorf("the hub refuses it: %w", err)}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			if cause.Field != "" {
				bad.Field = cause.Field
				break
			}
		}
	}
	return bad
}

// Final reports whether err is the API server's answer that no retry mends:
// it does not take the object, or not from us.
func Final(err error) bool {
	return Refusal(err) != nil || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)
}
