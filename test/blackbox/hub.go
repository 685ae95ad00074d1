package blackbox

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// hub is the hub as an administrator sees it.
type hub struct {
	config *rest.Config
	ocm    clusterclient.Interface
}

func newHub(kubeconfig string) (*hub, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst, config.Timeout = 100, 200, settle
	ocm, err := clusterclient.NewForConfig(config)
	return &hub{config: config, ocm: ocm}, err
}

// selected returns the clusters that the hub says a Placement selects.
func (h *hub) selected(ctx context.Context, placement string) ([]string, error) {
	list, err := h.ocm.ClusterV1beta1().PlacementDecisions(namespace).List(ctx, metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + placement})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, page := range list.Items {
		for _, d := range page.Status.Decisions {
			names = append(names, d.ClusterName)
		}
	}
	slices.Sort(names)
	return names, nil
}

// selects reports as an error if a Placement does not select one cluster.
func (h *hub) selects(ctx context.Context, placement, cluster string) error {
	got, err := h.selected(ctx, placement)
	if err == nil && !slices.Equal(got, []string{cluster}) {
		err = fmt.Errorf("the hub's PlacementDecision of %s has %v, want %s", placement, got, cluster)
	}
	return err
}

// score is a cluster's score by the scorer of the checks, on the hub.
func (h *hub) score(ctx context.Context, cluster string) (int32, error) {
	score, err := h.ocm.ClusterV1alpha1().AddOnPlacementScores(cluster).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return 0, err
	}
	if len(score.Status.Scores) != 1 {
		return 0, fmt.Errorf("AddOnPlacementScore %s of %s has scores %v, want one", name, cluster, score.Status.Scores)
	}
	return score.Status.Scores[0].Value, nil
}

// uid identifies the Placement over restarts.
func (h *hub) uid(ctx context.Context) (string, error) {
	placement, err := h.ocm.ClusterV1beta1().Placements(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return string(placement.UID), nil
}

// asStranger lists clusters without credentials.
func (h *hub) asStranger(ctx context.Context) error {
	ocm, err := clusterclient.NewForConfig(rest.AnonymousClientConfig(h.config))
	if err != nil {
		return err
	}
	_, err = ocm.ClusterV1().ManagedClusters().List(ctx, metav1.ListOptions{})
	return err
}
