package bridge

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// ConditionExplained is a condition of ours in the status of a direct
// Placement, beside OCM's two. It is True with the cause of the last decision
// that was news, False where the last one is not applied.
const ConditionExplained = "spokewire.dev/Explained"

// Controller is who reports the bridge's Events.
const Controller = "spokewire.dev/hub-bridge"

// Explanation is what there is to say on the hub of one decision.
type Explanation struct {
	// ID is the decision event's, Sequence its place in the log.
	ID       string
	Sequence uint64
	// At is when the bus received the decision.
	At time.Time
	// Reason is the decision's cause, or why it is refused.
	Reason, Message string
	Refused         bool
	Warning         bool
	Generation      int64
}

// ExplainedStatus is p's status with the condition that says e, and whether
// that differs from the present one. now is server time.
func ExplainedStatus(p *clusterv1beta1.Placement, e Explanation, now time.Time) (clusterv1beta1.PlacementStatus, bool) {
	status := statusOf(p)
	condition := metav1.Condition{
		Type: ConditionExplained, Status: metav1.ConditionTrue, ObservedGeneration: e.Generation,
		Reason: e.Reason, Message: cut(fmt.Sprintf("Decision %d: %s", e.Sequence, e.Message), maxMessage), LastTransitionTime: metav1.NewTime(now),
	}
	if e.Refused {
		condition.Status = metav1.ConditionFalse
	}
	return status, meta.SetStatusCondition(&status.Conditions, condition)
}

// Unexplained is p's status without our condition, and whether that differs.
func Unexplained(p *clusterv1beta1.Placement) (clusterv1beta1.PlacementStatus, bool) {
	status := statusOf(p)
	return status, meta.RemoveStatusCondition(&status.Conditions, ConditionExplained)
}

// statusOf is a copy of p's status that the API server takes.
func statusOf(p *clusterv1beta1.Placement) clusterv1beta1.PlacementStatus {
	status := *p.Status.DeepCopy()
	if status.DecisionGroups == nil {
		status.DecisionGroups = []clusterv1beta1.DecisionGroupStatus{}
	}
	return status
}

// How long texts may be, in bytes: the API's bounds of an Event, and ours of a
// condition.
const (
	maxNote     = 1024
	maxInstance = 128
	maxMessage  = 4096
)

// ExplainedEvent is the Event on p that says e. Its name is made of the
// decision's, so it cannot be created twice. others is how many decisions
// before it have no Event of their own, instance this replica's name.
func ExplainedEvent(p *clusterv1beta1.Placement, e Explanation, others int, instance string) *eventsv1.Event {
	note := e.Message
	if others > 0 {
		note = fmt.Sprintf("%s. Since the last event: %d more", note, others)
	}
	out := eventOn(p, fmt.Sprintf("%s/%s/%t", e.ID, e.Reason, e.Refused), e.At, instance)
	out.Action, out.Reason, out.Note = "Decide", e.Reason, cut(note, maxNote)
	if e.Warning {
		out.Type = corev1.EventTypeWarning
	}
	if e.Refused {
		out.Action = "Refuse"
	}
	return out
}

// ReasonBadAnnotation is that of a SlipEvent.
const ReasonBadAnnotation = "BadAnnotation"

// SlipEvent is the Event on p, which OCM decides, that tells which annotations
// of ours cannot be read. Its name is made of what it says, so the same is not
// said twice while the hub keeps it.
func SlipEvent(p *clusterv1beta1.Placement, slip error, at time.Time, instance string) *eventsv1.Event {
	note := strings.ReplaceAll(slip.Error(), "\n", "; ") + ". OCM decides this Placement as if they were not there"
	out := eventOn(p, ReasonBadAnnotation+"/"+note, at, instance)
	out.Type, out.Action, out.Reason, out.Note = corev1.EventTypeWarning, "Read", ReasonBadAnnotation, cut(note, maxNote)
	return out
}

// eventOn is an Event on p whose name is made of what.
func eventOn(p *clusterv1beta1.Placement, what string, at time.Time, instance string) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: eventName(p, what), Labels: map[string]string{LabelManagedBy: ManagedBy}},
		EventTime:  metav1.NewMicroTime(at), ReportingController: Controller, ReportingInstance: cut(instance, maxInstance), Type: corev1.EventTypeNormal,
		Regarding: corev1.ObjectReference{
			APIVersion: clusterv1beta1.GroupVersion.String(), Kind: "Placement", Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion,
		},
	}
}

func eventName(p *clusterv1beta1.Placement, what string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s", p.UID, what))
	suffix := fmt.Sprintf(".%x", sum[:8])
	return strings.TrimRight(cut(p.Name, validation.DNS1123SubdomainMaxLength-len(suffix)), ".-") + suffix
}

// cut shortens text to that many bytes, in the middle of no character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
