package native

import (
	"context"
	"log/slog"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/decisions"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/ledger"
)

// one is a hub with one native Placement, of which OCM has selected a.
type one struct{}

func (one) NativeState(namespace, name string) (*clusterv1beta1.Placement, []*clusterv1beta1.PlacementDecision) {
	controller := true
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "u"}}
	return p, []*clusterv1beta1.PlacementDecision{{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: bridge.PageName(name, 1), Labels: map[string]string{clusterv1beta1.PlacementLabel: name},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1beta1.GroupVersion.String(), Kind: "Placement", Name: name, UID: "u", Controller: &controller}},
		},
		Status: clusterv1beta1.PlacementDecisionStatus{Decisions: []clusterv1beta1.ClusterDecision{{ClusterName: "a"}}},
	}}
}

// TestALateDecisionIsSaidToBeOvertaken: OCM's decision takes the place of one
// of ours in the ledger without the ledger telling.
func TestALateDecisionIsSaidToBeOvertaken(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	bus, clock := eventstest.NewBus(), events.NewClock(nil)
	subject := events.DecisionSubject(events.KindPlacement, "ns", "train")
	ours, err := events.New(schemas.TypePlacementDecided, events.ServiceSource("placement-writer"), &schemas.PlacementDecision{
		Placement: schemas.PlacementRef{Namespace: "ns", Name: "train", UID: "u"}, Mode: schemas.ModeDirect, Scheduler: bridge.SchedulerSpokewire,
		Clusters: []schemas.SelectedCluster{{Name: "a"}}, Cause: "Test", Now: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	late, err := bus.Publish(ctx, subject, ours)
	if err != nil {
		t.Fatal(err)
	}
	synced := make(chan struct{}, 1)
	l := ledger.New(clock, decisions.Keep, nil, func() { synced <- struct{}{} })
	go func() { _ = l.Run(ctx, bus.Peer(), decisions.Watch()) }()
	<-synced
	var overtaken []uint64
	p := &Publisher{
		Service: "hub-bridge", Hub: one{}, Bus: bus, Ledger: l, Clock: clock, Log: slog.New(slog.DiscardHandler),
		Overtaken: func(e *decisions.Entry) { overtaken = append(overtaken, e.Sequence) },
	}
	if err := p.Publish(ctx, "ns", "train", 0); err != nil {
		t.Fatal(err)
	}
	if last := l.Get(subject); last.Sequence != late.Sequence+1 || len(overtaken) != 1 || overtaken[0] != late.Sequence {
		t.Errorf("event %d is the last, %v are said to be overtaken, want %d behind %d", last.Sequence, overtaken, late.Sequence+1, late.Sequence)
	}
}
