package explain

import (
	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
)

// explanation says of a decision, from the decision alone, what `spokewire
// explain` says of it.
func explanation(d *schemas.PlacementDecision) bridge.Explanation {
	return bridge.Explanation{
		Reason: d.Cause, Message: placement.Sentence(d), Generation: d.Placement.Generation,
		Warning: placement.Misconfiguration(d) != "",
	}
}

// refusal says of a decision that it is not applied.
func refusal(d *schemas.PlacementDecision, a receipt.Answer) bridge.Explanation {
	return bridge.Explanation{
		Reason: a.Reason, Message: "Not applied, the one before it stands. " + a.Message, Generation: d.Placement.Generation,
		Refused: true, Warning: true,
	}
}

// holdOver reports whether p's condition speaks of a hold that d, which is no
// news of its own, knows nothing of.
func holdOver(p *clusterv1beta1.Placement, d *schemas.PlacementDecision) bool {
	if p == nil || d.Cause != placement.CauseScoreChanged {
		return false
	}
	c := meta.FindStatusCondition(p.Status.Conditions, bridge.ConditionExplained)
	return c != nil && (c.Reason == placement.CauseMoveHeld || c.Reason == placement.CauseScoreHeld)
}
