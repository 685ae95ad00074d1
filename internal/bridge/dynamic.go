package bridge

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Resources of OCM's dynamic scoring.
var (
	DynamicScoringVersion = schema.GroupVersion{Group: "dynamic-scoring.open-cluster-management.io", Version: "v1alpha1"}
	DynamicScorers        = DynamicScoringVersion.WithResource("dynamicscorers")
	DynamicScoringConfigs = DynamicScoringVersion.WithResource("dynamicscoringconfigs")
)

// ConditionScoring is the condition in a DynamicScorer's status that says
// whether it scores, and if not, why.
const ConditionScoring = "Scoring"

// Reasons of that condition beside those of the scorer's status.
const (
	ReasonScored   = "Scored"
	ReasonNotAsked = "NotAsked"
)

// DynamicScorer reads a DynamicScorer. What is not in its schema says
// nothing.
func DynamicScorer(u *unstructured.Unstructured) (*schemas.DynamicScorer, error) {
	out := &schemas.DynamicScorer{
		Name: u.GetName(), Namespace: u.GetNamespace(), UID: string(u.GetUID()), Generation: u.GetGeneration(),
		Deleting: u.GetDeletionTimestamp() != nil,
	}
	return out, into(u, "spec", &out.Spec)
}

// DynamicScoringConfig reads a DynamicScoringConfig.
func DynamicScoringConfig(u *unstructured.Unstructured) (*schemas.DynamicScoringConfig, error) {
	out := &schemas.DynamicScoringConfig{Name: u.GetName(), Namespace: u.GetNamespace(), UID: string(u.GetUID())}
	var spec schemas.DynamicScoringConfigSpec
	err := into(u, "spec", &spec)
	out.Masks = spec.Masks
	return out, err
}

func into(u *unstructured.Unstructured, field string, to any) error {
	data, err := json.Marshal(u.Object[field])
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		return fmt.Errorf("%s %s/%s: %s is not as its definition has it: %w", u.GetKind(), u.GetNamespace(), u.GetName(), field, err)
	}
	return nil
}

// dynamicStatus is the status of a DynamicScorer. Upstream's definition has
// no conditions.
type dynamicStatus struct {
	HealthStatus     string                `json:"healthStatus"`
	LastSyncedConfig *schemas.SyncedConfig `json:"lastSyncedConfig,omitempty"`
	Conditions       []metav1.Condition    `json:"conditions,omitempty"`
}

// notAskedAfter is how long after the end of its claim a replica is waited
// for.
const notAskedAfter = 30 * time.Second

// ScorerCondition is what s says at now, in server time, and when time alone
// changes that (the zero time: never).
func ScorerCondition(s *schemas.ScorerStatus, now time.Time) (health string, c metav1.Condition, again time.Time) {
	c = metav1.Condition{Type: ConditionScoring, Status: metav1.ConditionTrue, Reason: ReasonScored, ObservedGeneration: s.Generation}
	silent := s.HeldUntil.Add(notAskedAfter)
	switch {
	case !now.Before(silent):
		c.Status, c.Reason = metav1.ConditionUnknown, ReasonNotAsked
		c.Message = fmt.Sprintf("no scorer service has said anything of it since %s: does one run?", s.HeldUntil.UTC().Format(time.RFC3339))
		return schemas.HealthUnknown, c, time.Time{}
	case s.Reason != "":
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, s.Reason, s.Message
	case s.Health == schemas.HealthUnknown:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, ReasonNotAsked, "it was not asked yet"
	default:
		c.Message = fmt.Sprintf("%d clusters are scored", s.Clusters)
	}
	return s.Health, c, silent
}

// PlanScorerStatus lays s over the status of have, and reports whether that
// differs: by the conditions too if the hub keeps them. The number of
// clusters alone is no difference.
func PlanScorerStatus(have *unstructured.Unstructured, s *schemas.ScorerStatus, now time.Time, conditions bool) (status map[string]any, differs bool, again time.Time, err error) {
	var before, after dynamicStatus
	if err := into(have, "status", &before); err != nil {
		before = dynamicStatus{} // replaced
	}
	after = before
	after.Conditions = append([]metav1.Condition(nil), before.Conditions...)
	var condition metav1.Condition
	after.HealthStatus, condition, again = ScorerCondition(s, now)
	if s.Config != nil {
		after.LastSyncedConfig = s.Config
	}
	condition.LastTransitionTime = metav1.NewTime(now)
	old := meta.FindStatusCondition(after.Conditions, ConditionScoring)
	if old != nil && old.Reason == condition.Reason && condition.Status == metav1.ConditionTrue {
		condition.Message = old.Message
	}
	changed := meta.SetStatusCondition(&after.Conditions, condition)
	differs = before.HealthStatus != after.HealthStatus || !reflect.DeepEqual(before.LastSyncedConfig, after.LastSyncedConfig) || conditions && changed
	status, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&after)
	return status, differs, again, err
}

// KeepsConditions reports whether written, as the hub answered to a status
// with conditions, still has any.
func KeepsConditions(written *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(written.Object, "status", "conditions")
	return err == nil && len(conditions) > 0
}

// ScorerEvent is the Event on a DynamicScorer that says c. Its name is made of
// what it says, so that the same is not said twice while the hub keeps it.
func ScorerEvent(u *unstructured.Unstructured, c metav1.Condition, at time.Time, instance string) *eventsv1.Event {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%s", u.GetUID(), c.Reason, c.Message))
	suffix := fmt.Sprintf(".%x", sum[:8])
	out := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: u.GetNamespace(), Labels: map[string]string{LabelManagedBy: ManagedBy},
			Name: strings.TrimRight(cut(u.GetName(), validation.DNS1123SubdomainMaxLength-len(suffix)), ".-") + suffix,
		},
		EventTime: metav1.NewMicroTime(at), ReportingController: Controller, ReportingInstance: cut(instance, maxInstance),
		Type: corev1.EventTypeWarning, Action: "Score", Reason: c.Reason, Note: cut(c.Message, maxNote),
		Regarding: corev1.ObjectReference{
			APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(),
		},
	}
	if c.Status == metav1.ConditionTrue {
		out.Type = corev1.EventTypeNormal
	}
	return out
}
