package hub_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"

	"github.com/spokewire/spokewire/internal/hub"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
)

func TestAHubServesOCMAndGivesNewUsersNothing(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t)

	admin := clusterclient.NewForConfigOrDie(h.Admin())
	list := metav1.ListOptions{}
	for resource, err := range map[string]error{
		"managedclusters":        listError(admin.ClusterV1().ManagedClusters().List(t.Context(), list)),
		"managedclustersets":     listError(admin.ClusterV1beta2().ManagedClusterSets().List(t.Context(), list)),
		"placements":             listError(admin.ClusterV1beta1().Placements("").List(t.Context(), list)),
		"placementdecisions":     listError(admin.ClusterV1beta1().PlacementDecisions("").List(t.Context(), list)),
		"addonplacementscores":   listError(admin.ClusterV1alpha1().AddOnPlacementScores("").List(t.Context(), list)),
		"managedclustersetbinds": listError(admin.ClusterV1beta2().ManagedClusterSetBindings("").List(t.Context(), list)),
	} {
		if err != nil {
			t.Errorf("admin lists %s: %v", resource, err)
		}
	}

	user, err := h.AddUser("nobody")
	if err != nil {
		t.Fatal(err)
	}
	_, err = clusterclient.NewForConfigOrDie(user.Config).ClusterV1().ManagedClusters().List(t.Context(), list)
	if !apierrors.IsForbidden(err) {
		t.Errorf("a user without roles lists clusters: %v, want Forbidden", err)
	}
	if !strings.Contains(string(user.Kubeconfig), "client-certificate-data") {
		t.Error("the user's kubeconfig carries no client certificate")
	}
}

func listError(_ any, err error) error { return err }

func TestTheMissingProgramIsNamed(t *testing.T) {
	t.Parallel()
	err := hub.In(t.TempDir()).Validate()
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver") || !strings.Contains(err.Error(), "make hub") {
		t.Errorf("Validate() = %v, want the program's name and how to build it", err)
	}
}
