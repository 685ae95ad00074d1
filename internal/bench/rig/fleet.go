package rig

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// fleetWithin bounds each step of building a fleet of 10,000 clusters.
const fleetWithin = 10 * time.Minute

// Fleet creates n clusters on the hub, and waits until the bus has them. It
// returns their names.
func (r *Rig) Fleet(ctx context.Context, n int) ([]string, error) {
	r.Say("creating %d clusters on the hub", n)
	config, err := clientcmd.BuildConfigFromFlags("", r.Kubeconfig())
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	if err := stack.CreateFleet(ctx, config, n); err != nil {
		return nil, err
	}
	names := Clusters(n)
	return names, r.Stored(ctx, events.StreamHub, "sw.hub."+events.KindCluster+".>", n)
}

// Clusters are the names of the first n clusters of a fleet.
func Clusters(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("spoke-%d", i+1)
	}
	return names
}

// Stored waits until n subjects that match the filter have an event.
func (r *Rig) Stored(ctx context.Context, stream, filter string, n int) error {
	ctx, cancel := context.WithTimeout(ctx, fleetWithin)
	defer cancel()
	seen := map[string]bool{}
	err := r.Bus.Watch(ctx, events.Watch{Stream: stream, Subjects: []string{filter}}, func(u events.Update) error {
		if u.Kind == events.Stored {
			seen[u.Message.Subject] = true
		}
		if len(seen) >= n {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return fmt.Errorf("%d of %d subjects %s have an event: %w", len(seen), n, filter, err)
}

var errEnough = errors.New("enough")

// Apply asks over the bus for a scorer of each resource of the dimensions.
func (r *Rig) Apply(ctx context.Context, dimensions []Dimension, hub bool) error {
	for _, group := range ByResource(dimensions) {
		if err := r.apply(ctx, group, hub); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rig) apply(ctx context.Context, group []Dimension, hub bool) error {
	validFor := schemas.Duration(6 * time.Hour)
	items := make([]schemas.ScorerItem, len(group))
	for i, d := range group {
		items[i] = d.item()
	}
	name := group[0].Resource
	s := &schemas.Scorer{
		APIVersion: schemas.ScorerAPIVersion, Kind: schemas.ScorerKind, Metadata: schemas.Metadata{Name: name},
		Spec: schemas.ScorerSpec{Items: items, ValidFor: &validFor, Hub: &hub},
	}
	e, err := events.New(schemas.TypeConfigScorer, events.ServiceSource(Bench), s)
	if err != nil {
		return err
	}
	_, err = r.Bus.Publish(ctx, events.ConfigSubject(events.KindScorer, "", name), e)
	return err
}

// ScoresOnHub waits until the hub has that many AddOnPlacementScores.
func (r *Rig) ScoresOnHub(ctx context.Context, n int) error {
	return Poll(ctx, fmt.Sprintf("%d scores on the hub", n), fleetWithin, 200*time.Millisecond, func() (bool, error) {
		list, err := r.Hub.ClusterV1alpha1().AddOnPlacementScores("").List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return false, err
		}
		have := len(list.Items)
		if more := list.RemainingItemCount; more != nil {
			have += int(*more)
		}
		return have >= n, nil
	})
}
