package bridge

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

func explained() Explanation {
	return Explanation{ID: "id", Sequence: 41, At: noon, Reason: "ScoreChanged", Message: "b overtook a", Generation: 3}
}

func TestExplainedStatus(t *testing.T) {
	t.Parallel()
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: "train", Namespace: "ns", UID: "u"}}
	p.Status.Conditions = []metav1.Condition{{Type: clusterv1beta1.PlacementConditionSatisfied, Status: "True", Reason: "AllDecisionsScheduled"}}
	status, differs := ExplainedStatus(p, explained(), noon)
	c := meta.FindStatusCondition(status.Conditions, ConditionExplained)
	if !differs || len(status.Conditions) != 2 || c.Status != "True" || c.Reason != "ScoreChanged" || c.Message != "Decision 41: b overtook a" || c.ObservedGeneration != 3 {
		t.Errorf("the status is %+v", status)
	}
	p.Status = status
	if _, differs := ExplainedStatus(p, explained(), noon.AddDate(0, 0, 1)); differs {
		t.Error("the same again differs")
	}
	refused := explained()
	refused.Refused = true
	if status, differs := ExplainedStatus(p, refused, noon); !differs || meta.FindStatusCondition(status.Conditions, ConditionExplained).Status != "False" {
		t.Errorf("refused, the status is %+v", status)
	}
	if status, differs := Unexplained(p); !differs || len(status.Conditions) != 1 || status.Conditions[0].Type != clusterv1beta1.PlacementConditionSatisfied {
		t.Errorf("without it the status is %+v", status)
	}
}

func TestExplainedEvent(t *testing.T) {
	t.Parallel()
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("n", 250) + ".x", Namespace: "ns", UID: "u"}}
	e := explained()
	event := ExplainedEvent(p, e, 0, strings.Repeat("host", 50))
	if bad := validation.IsDNS1123Subdomain(event.Name); len(bad) > 0 || event.Namespace != "ns" || event.Regarding.UID != "u" || event.Regarding.Kind != "Placement" {
		t.Errorf("the event is %+v (%v)", event, bad)
	}
	if len(event.ReportingInstance) != 128 || event.Note != "b overtook a" || event.Type != corev1.EventTypeNormal {
		t.Errorf("the event is %+v", event)
	}
	if again := ExplainedEvent(p, e, 2, "another"); again.Name != event.Name || again.Note != "b overtook a. Since the last event: 2 more" {
		t.Errorf("the same decision is event %s (%s), and %s", event.Name, again.Note, again.Name)
	}
	other := e
	other.ID = "other"
	if ExplainedEvent(p, other, 0, "host").Name == event.Name {
		t.Error("two decisions have one name")
	}
	e.Message, e.Refused, e.Warning = strings.Repeat("ä", 600), true, true
	if refused := ExplainedEvent(p, e, 0, "host"); len(refused.Note) != maxNote || refused.Type != corev1.EventTypeWarning || refused.Name == event.Name {
		t.Errorf("refused, it is %+v", refused)
	}
}

func TestSlipEvent(t *testing.T) {
	t.Parallel()
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: "train", Namespace: "ns", UID: "u"}}
	slip := errors.Join(errors.New("mode is odd"), errors.New("dead-band is odd"))
	event := SlipEvent(p, slip, noon, "host")
	if event.Type != corev1.EventTypeWarning || event.Reason != ReasonBadAnnotation || event.Action == "" ||
		event.Note != "mode is odd; dead-band is odd. OCM decides this Placement as if they were not there" {
		t.Errorf("the event is %+v", event)
	}
	if again := SlipEvent(p, slip, noon.AddDate(0, 0, 1), "another"); again.Name != event.Name {
		t.Errorf("the same slip is event %s, and %s", event.Name, again.Name)
	}
	if other := SlipEvent(p, errors.New("mode is odd"), noon, "host"); other.Name == event.Name {
		t.Error("two slips have one name")
	}
}
