package app

import (
	"context"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/kube"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/profiles"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/slices"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// wireSIG makes the writers of SIG-Multicluster's resources that are asked
// for.
func (b *bridge) wireSIG(queue func(string) *work.Queue, urgent *work.Gate) {
	if b.options.Slices {
		b.slices = slices.NewApplier(slices.Options{
			Hub: b.hub, Decision: b.decision, Refuse: b.refuseSlice, Log: b.runtime.Log, Urgent: urgent,
		}, queue("slices"))
	}
	if b.options.Profiles {
		b.profiles = profiles.NewApplier(profiles.Options{Hub: b.hub, Log: b.runtime.Log, Urgent: urgent}, queue("profiles"))
		b.runtime.Health.Detail("clusterprofiles", b.profiles.Detail)
	}
}

// changedSIG tells them of a change on the hub.
func (b *bridge) changedSIG(c kube.Change) {
	if b.slices != nil {
		switch c.Kind {
		case events.KindPlacement, events.KindPlacementDecision, kube.KindSlice:
			b.slices.Changed(c.Namespace, c.Name)
		}
	}
	if b.profiles != nil {
		switch c.Kind {
		case events.KindCluster, events.KindClusterSet:
			b.profiles.Changed("")
		case events.KindBinding, kube.KindProfile:
			b.profiles.Changed(c.Namespace)
		}
	}
}

// decision is the last one for a Placement, for slices.
func (b *bridge) decision(namespace, name string) (*schemas.PlacementDecision, bool) {
	ledger := b.decisions.Ledger
	entry := ledger.Get(events.DecisionSubject(events.KindPlacement, namespace, name))
	if entry == nil {
		return nil, ledger.Synced()
	}
	read, err := entry.Value.Read()
	if err != nil {
		return nil, ledger.Last(entry) // the PlacementDecisions of the one before it stand
	}
	return read.Decision, ledger.Last(entry)
}

// refuseSlice answers the decision of the Placement once more: what it says
// stands in OCM's terms, but not in SIG-Multicluster's.
func (b *bridge) refuseSlice(ctx context.Context, r slices.Refusal) {
	subject := events.DecisionSubject(events.KindPlacement, r.Namespace, r.Name)
	entry := b.decisions.Ledger.Get(subject)
	if entry == nil {
		return // nothing to answer: the log has it
	}
	read, err := entry.Value.Read()
	if err != nil {
		return // refused by whoever applies it
	}
	b.receipts.Record(ctx, receipt.Answer{
		Kind: events.KindSlice, Namespace: r.Namespace, Name: r.Name,
		Subject: subject, Sequence: entry.Sequence, ID: read.ID, ReceivedAt: entry.ReceivedAt,
		Outcome: schemas.OutcomeRefused, Reason: r.Reason, Message: r.Message,
	})
}
