package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

// ErrNotServed is that of a hub without a resource that was asked for.
var ErrNotServed = errors.New("the hub does not serve it")

// findRetry is how long to wait for a hub that cannot be reached, before
// jitter.
const findRetry = time.Second

// FindSIG looks whether the hub serves what s asks for, and which
// ManagedClusterSet its inventory names. It waits for a hub that cannot be
// reached; an answer that says what is missing is an error.
func FindSIG(ctx context.Context, config *rest.Config, s SIG, log *slog.Logger) (SIG, error) {
	if !s.Any() {
		return s, nil
	}
	config = rest.CopyConfig(config)
	config.Timeout = callTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return s, fmt.Errorf("hub client: %w", err)
	}
	for {
		found, err := findSIG(ctx, client, s)
		var answer apierrors.APIStatus
		if err == nil || errors.Is(err, ErrNotServed) || errors.As(err, &answer) && answer.Status().Code < 500 {
			return found, err
		}
		log.Warn("cannot ask the hub for SIG-Multicluster's resources; will try again", "error", err)
		if !pause(ctx, findRetry/2+rand.N(findRetry)) {
			return s, ctx.Err()
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func findSIG(ctx context.Context, client kubernetes.Interface, s SIG) (SIG, error) {
	list, err := client.Discovery().ServerResourcesForGroupVersionWithContext(ctx, sig.GroupVersion.String())
	if err != nil && !apierrors.IsNotFound(err) {
		return s, fmt.Errorf("resources of %s: %w", sig.GroupVersion, err)
	}
	for flag, want := range map[string]struct {
		resource string
		asked    bool
	}{
		"--sig-placement-decisions": {"placementdecisions", s.Slices},
		"--write-cluster-profiles":  {"clusterprofiles", s.Profiles},
		"--inventory":               {"clusterprofiles", s.Source != ""},
	} {
		served := list != nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == want.resource })
		if want.asked && !served {
			return s, fmt.Errorf("%s needs %s.%s (%s): %w; install its definition from sigs.k8s.io/cluster-inventory-api (config/crd/bases; make puts it into bin/crds-sig), or leave the flag out",
				flag, want.resource, sig.Group, sig.Version, ErrNotServed)
		}
	}
	if s.Source == "" {
		return s, nil
	}
	namespace, err := client.CoreV1().Namespaces().Get(ctx, s.Source, metav1.GetOptions{})
	if err != nil {
		return s, fmt.Errorf("--inventory: namespace %s, whose label %s names the cluster set: %w", s.Source, sig.LabelClusterSetKey, err)
	}
	s.Set = namespace.Labels[sig.LabelClusterSetKey]
	return s, nil
}
