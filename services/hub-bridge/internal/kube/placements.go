package kube

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"open-cluster-management.io/api/client/cluster/clientset/versioned/scheme"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
)

// CreatePlacement creates a Placement.
func (h *Hub) CreatePlacement(ctx context.Context, m *bridge.Manifest) (*clusterv1beta1.Placement, error) {
	return write(ctx, h, h.placements, events.KindPlacement, verbCreate, named(m), func(ctx context.Context) (*clusterv1beta1.Placement, error) {
		call := h.write.ClusterV1beta1().RESTClient().Post().VersionedParams(&metav1.CreateOptions{
			FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict,
		}, scheme.ParameterCodec)
		return send(ctx, call, m)
	})
}

// UpdatePlacement writes the metadata and spec of a Placement.
func (h *Hub) UpdatePlacement(ctx context.Context, m *bridge.Manifest) (*clusterv1beta1.Placement, error) {
	return write(ctx, h, h.placements, events.KindPlacement, verbUpdate, named(m), func(ctx context.Context) (*clusterv1beta1.Placement, error) {
		return h.update(ctx, m, nil)
	})
}

// TryPlacement returns what UpdatePlacement would make of m, and writes
// nothing.
func (h *Hub) TryPlacement(ctx context.Context, m *bridge.Manifest) (*clusterv1beta1.Placement, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	tried, err := h.update(ctx, m, []string{metav1.DryRunAll})
	if err != nil {
		return nil, fmt.Errorf("try to update placement %s/%s: %w", m.Namespace, m.Name, err)
	}
	return tried, nil
}

func (h *Hub) update(ctx context.Context, m *bridge.Manifest, dryRun []string) (*clusterv1beta1.Placement, error) {
	call := h.write.ClusterV1beta1().RESTClient().Put().Name(m.Name).VersionedParams(&metav1.UpdateOptions{
		DryRun: dryRun, FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict,
	}, scheme.ParameterCodec)
	return send(ctx, call, m)
}

// fieldManager is the bridge's name in the managed fields of the Placements
// that it creates.
const fieldManager = "spokewire-hub-bridge"

// send sends m as it stands: a typed client would leave a weight of 0 out. A
// field that the API server does not know is refused, not dropped.
func send(ctx context.Context, call *rest.Request, m *bridge.Manifest) (*clusterv1beta1.Placement, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode it: %w", err)
	}
	written := new(clusterv1beta1.Placement)
	return written, call.Namespace(m.Namespace).Resource("placements").SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Into(written)
}

// named is what an error of a write says of m.
func named(m *bridge.Manifest) *clusterv1beta1.Placement {
	return &clusterv1beta1.Placement{ObjectMeta: m.ObjectMeta}
}

// MadePlacement reports whether the bridge created or wrote the spec of the
// Placement that stands on the hub under p's UID, by the managed fields that
// the API server keeps: they tell when somebody has taken the bridge's marks
// off it.
func (h *Hub) MadePlacement(ctx context.Context, p *clusterv1beta1.Placement) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	now, err := h.write.ClusterV1beta1().Placements(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("read placement %s/%s: %w", p.Namespace, p.Name, err)
	}
	return now.UID == p.UID && bridge.WroteSpec(now, fieldManager), nil
}

// UpdatePlacementStatus writes the status of a Placement.
func (h *Hub) UpdatePlacementStatus(ctx context.Context, p *clusterv1beta1.Placement) (*clusterv1beta1.Placement, error) {
	return write(ctx, h, h.placements, events.KindPlacement, verbStatus, p, func(ctx context.Context) (*clusterv1beta1.Placement, error) {
		return h.write.ClusterV1beta1().Placements(p.Namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})
	})
}

// DeletePlacement deletes a Placement.
func (h *Hub) DeletePlacement(ctx context.Context, p *clusterv1beta1.Placement) error {
	return remove(ctx, h, h.placements, events.KindPlacement, p, h.write.ClusterV1beta1().Placements(p.Namespace).Delete)
}
