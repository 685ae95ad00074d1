package bridge

import (
	"fmt"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Reasons of a receipt.
const (
	ReasonUIDMismatch   = "UIDMismatch"
	ReasonNotDirect     = "NotDirect"
	ReasonNotFound      = "PlacementNotFound"
	ReasonDeleting      = "PlacementDeleting"
	ReasonBadDecision   = "BadDecision"
	ReasonNotOurs       = "NotOurs"
	ReasonBornOnHub     = "BornOnHub"
	ReasonRefusedByHub  = "RefusedByHub"
	ReasonNoNamespace   = "NamespaceNotFound"
	ReasonNewerDecision = "NewerEvent"
	// Of an Applied one:
	ReasonRestored       = "Restored"       // others had changed the objects
	ReasonOverlap        = "Overlap"        // clusters that leave are still there
	ReasonOverlapOver    = "OverlapOver"    // they are not any more
	ReasonOverlapExpired = "OverlapExpired" // ditto, though nobody said that what they had has arrived
)

// Action is what a decision asks of the hub.
type Action int

// Actions.
const (
	Ignore  Action = iota // nothing: OCM's own decision, or a shadow one
	Apply                 // write it
	Refuse                // never write it; Reason says why
	Release               // Refuse, and give up what was written before
)

// Verdict is an Action with its reason.
type Verdict struct {
	Action          Action
	Reason, Message string
}

// Judge says what to do with decision d, given the Placement as it stands on
// the hub; p is nil where there is none.
func Judge(d *schemas.PlacementDecision, p *clusterv1beta1.Placement) Verdict {
	switch {
	case p != nil && !Direct(p):
		return judgeNative(d, p)
	case d.Mode != schemas.ModeDirect || d.Scheduler != SchedulerSpokewire:
		return Verdict{Action: Ignore}
	case p == nil:
		return refuse(ReasonNotFound, "the hub has no Placement %s/%s", d.Placement.Namespace, d.Placement.Name)
	case d.Placement.UID != string(p.UID):
		return refuse(ReasonUIDMismatch, "the decision is for the Placement with placement.uid %s, the hub has %s", d.Placement.UID, p.UID)
	case p.DeletionTimestamp != nil:
		return refuse(ReasonDeleting, "Placement %s/%s is being deleted", p.Namespace, p.Name)
	}
	return Verdict{Action: Apply}
}

func judgeNative(d *schemas.PlacementDecision, p *clusterv1beta1.Placement) Verdict {
	v := Verdict{Action: Release}
	if d.Mode == schemas.ModeDirect {
		v.Reason = ReasonNotDirect
		v.Message = fmt.Sprintf("Placement %s/%s does not have annotation %s: \"true\", so OCM decides", p.Namespace, p.Name, clusterv1beta1.PlacementDisableAnnotation)
		if p.Annotations[schemas.AnnotationMode] == schemas.ModeShadow {
			v.Message = fmt.Sprintf("Placement %s/%s has annotation %s: %s, so nothing is written", p.Namespace, p.Name, schemas.AnnotationMode, schemas.ModeShadow)
		}
	}
	return v
}

func refuse(reason, format string, args ...any) Verdict {
	return Verdict{Action: Refuse, Reason: reason, Message: fmt.Sprintf(format, args...)}
}
