// Package hublook looks at a hub by a kubeconfig: whether it serves what
// hub-bridge needs, and whether hub-bridge may do what it does. It changes
// nothing there.
package hublook

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spokewire/spokewire/internal/checkup"
)

const (
	// group is that of OCM's resources.
	group = "cluster.open-cluster-management.io"
	// callTimeout bounds one call.
	callTimeout = 3 * time.Second
)

// needed are the resources that the bridge reads, with their versions.
func needed() []checkup.MissingResource {
	return []checkup.MissingResource{
		{Name: "managedclusters", Version: "v1"},
		{Name: "managedclustersets", Version: "v1beta2"},
		{Name: "managedclustersetbindings", Version: "v1beta2"},
		{Name: "placements", Version: "v1beta1"},
		{Name: "placementdecisions", Version: "v1beta1"},
		{Name: "addonplacementscores", Version: "v1alpha1"},
	}
}

// Files looks at the hub of kubeconfig files, a list as KUBECONFIG has it.
// What cannot be looked at is said in the result.
func Files(ctx context.Context, kubeconfig string) *checkup.Hub {
	rules := clientcmd.ClientConfigLoadingRules{Precedence: filepath.SplitList(kubeconfig)}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&rules, nil).ClientConfig()
	if err != nil {
		return &checkup.Hub{Server: kubeconfig, Fault: err.Error()}
	}
	return Look(ctx, config)
}

// Look looks at the hub of config.
func Look(ctx context.Context, config *rest.Config) *checkup.Hub {
	config = rest.CopyConfig(config)
	config.Timeout, config.QPS, config.Burst = callTimeout, 100, 100
	h := &checkup.Hub{Server: config.Host}
	client, err := kubernetes.NewForConfig(config)
	if err == nil {
		err = checkReady(ctx, client)
	}
	if err == nil {
		err = look(ctx, client, h)
	}
	var unready *unreadyError
	switch {
	case errors.As(err, &unready):
		return &checkup.Hub{Server: config.Host, Unready: unready.checks}
	case serverFailed(err):
		return &checkup.Hub{Server: config.Host, Unready: []string{err.Error()}}
	case err != nil:
		return &checkup.Hub{Server: config.Host, Fault: err.Error()}
	}
	return h
}

// unreadyError says what an API server waits for.
type unreadyError struct{ checks []string }

func (e *unreadyError) Error() string { return "not ready: " + strings.Join(e.checks, ", ") }

// checkReady asks whether the API server is ready: while it starts, it does
// not serve all resources yet. It is nil if the user may not ask.
func checkReady(ctx context.Context, client *kubernetes.Clientset) error {
	text, err := client.DiscoveryClient.RESTClient().Get().AbsPath("/readyz").MaxRetries(0).DoRaw(ctx)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), apierrors.IsNotFound(err):
		return nil
	case serverFailed(err):
		if checks := failedChecks(string(text)); len(checks) > 0 {
			return &unreadyError{checks}
		}
	}
	return err
}

// serverFailed reports whether err is an answer that the fault is the
// server's.
func serverFailed(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && answer.Status().Code >= http.StatusInternalServerError
}

// look fills in what h says of a server that is ready. What the user may not
// ask for is untold; any other error is returned.
func look(ctx context.Context, client *kubernetes.Clientset, h *checkup.Hub) error {
	served, err := resources(ctx, client.DiscoveryClient)
	if err != nil {
		return err
	}
	for _, r := range needed() {
		if !slices.Contains(served[r.Name], r.Version) {
			r.Served = served[r.Name]
			h.Missing = append(h.Missing, r)
		}
	}
	if h.Untold, err = untold(rights(ctx, client, h)); err != nil {
		return err
	}
	h.HasObjects = hasAny(ctx, client, "v1", "managedclusters") || hasAny(ctx, client, "v1beta1", "placements")
	h.Leases, err = leases(ctx, client, time.Now())
	h.LeasesUntold, err = untold(err)
	return err
}

// untold takes an error that says that the user may not ask for the answer.
func untold(err error) (string, error) {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return err.Error(), nil
	}
	return "", err
}

// failedChecks names the checks that /readyz says have failed.
func failedChecks(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if rest, failed := strings.CutPrefix(line, "[-]"); failed {
			name, _, _ := strings.Cut(rest, " ")
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// resources returns the versions of each of OCM's resources.
func resources(ctx context.Context, client *discovery.DiscoveryClient) (map[string][]string, error) {
	groups, err := client.ServerGroupsWithContext(ctx)
	if err != nil {
		return nil, err
	}
	served := map[string][]string{}
	for _, g := range groups.Groups {
		if g.Name != group {
			continue
		}
		for _, v := range g.Versions {
			list, err := client.ServerResourcesForGroupVersionWithContext(ctx, v.GroupVersion)
			if err != nil {
				return nil, err
			}
			for _, r := range list.APIResources {
				served[r.Name] = append(served[r.Name], v.Version)
			}
		}
	}
	return served, nil
}
