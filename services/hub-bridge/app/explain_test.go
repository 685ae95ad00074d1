package app_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/app"
)

// move is a decision that is news: b takes the place of a.
func move(p *clusterv1beta1.Placement) *schemas.PlacementDecision {
	d := decision(p, "b")
	d.Cause, d.Message, d.Added, d.Removed = placement.CauseScoreChanged, "b (90) overtook a (40)", []string{"b"}, []string{"a"}
	d.Considered, d.Rejected = 5, map[string]int{"Taint": 2}
	return d
}

// same is one of scores alone.
func same(p *clusterv1beta1.Placement) *schemas.PlacementDecision {
	d := decision(p, "b")
	d.Cause, d.Message, d.Clusters[0].Score = placement.CauseScoreChanged, "the same clusters with other scores", 7
	return d
}

func (e *env) events(name string) []eventsv1.Event {
	e.t.Helper()
	list, err := kubernetes.NewForConfigOrDie(theHub.Admin()).EventsV1().Events(e.ns).List(e.t.Context(), metav1.ListOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(o eventsv1.Event) bool { return o.Regarding.Name != name })
}

func (e *env) explained(name string) *metav1.Condition {
	e.t.Helper()
	return meta.FindStatusCondition(e.get(name).Status.Conditions, bridge.ConditionExplained)
}

// explains waits until the Placement's condition says that of a decision.
func (e *env) explains(name string, sequence uint64, status, reason, message string) {
	e.t.Helper()
	want := fmt.Sprintf("%s %s Decision %d: %s", status, reason, sequence, message)
	eventually(e.t, "the Placement explains itself", func() error {
		c := e.explained(name)
		if c == nil {
			return fmt.Errorf("it has no condition %s", bridge.ConditionExplained)
		}
		if got := fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message); got != want {
			return fmt.Errorf("it says %q, want %q", got, want)
		}
		return nil
	})
}

func TestADecisionIsExplainedOnTheHub(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	d := move(p)
	sequence := e.decide(d)
	e.explains("train", sequence, "True", placement.CauseScoreChanged, placement.Sentence(d))
	told := e.events("train")
	if len(told) != 1 || told[0].Note != placement.Sentence(d) || told[0].Reason != placement.CauseScoreChanged || told[0].Type != corev1.EventTypeNormal ||
		told[0].Regarding.UID != p.UID || told[0].ReportingInstance != "test" {
		t.Fatalf("the events are %+v", told)
	}
	if n := len(e.get("train").Status.Conditions); n != 2 {
		t.Errorf("the Placement has %d conditions, want that of the decision and ours", n)
	}

	// kubectl describe shows the same.
	out := e.describe("placement", "train")
	for _, want := range []string{
		`Type: +spokewire\.dev/Explained`,
		`Message: +` + regexp.QuoteMeta(fmt.Sprintf("Decision %d: %s", sequence, placement.Sentence(d))),
		`Normal +ScoreChanged +\S+ +spokewire\.dev/hub-bridge +` + regexp.QuoteMeta(placement.Sentence(d)),
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("kubectl describe does not show %s:\n%s", want, out)
		}
	}

	// Scores alone are no news.
	e.applied(same(p))
	again := e.decide(move(p))
	e.explains("train", again, "True", placement.CauseScoreChanged, placement.Sentence(d))
	told = e.events("train")
	if len(told) != 2 || told[0].Note != placement.Sentence(d) || told[1].Note != placement.Sentence(d) {
		t.Errorf("two moves, and scores between them, have the events %+v", told)
	}
}

// describe is what kubectl says.
func (e *env) describe(kind, name string) string {
	e.t.Helper()
	user, err := theHub.AddUser("describes-"+e.ns, "system:masters")
	if err != nil {
		e.t.Fatal(err)
	}
	kubeconfig := filepath.Join(e.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, user.Kubeconfig, 0o600); err != nil {
		e.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	kubectl := exec.CommandContext(ctx, filepath.Join(hubtest.BinDir(), "kubectl"), "--kubeconfig", kubeconfig, "--cache-dir", e.t.TempDir(), "-n", e.ns, "describe", kind, name)
	out, err := kubectl.CombinedOutput()
	if err != nil {
		e.t.Fatalf("%v: %s (run 'make tools' in the repository)", err, out)
	}
	return string(out)
}

func TestARestartExplainsNothingTwice(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	d := move(p)
	sequence := e.decide(d)
	e.explains("train", sequence, "True", placement.CauseScoreChanged, placement.Sentence(d))
	e.stop()
	e.calls.take()
	e.run()
	// Another Placement, decided after the start, is told of later.
	other := move(e.placement("other", true))
	e.explains("other", e.decide(other), "True", placement.CauseScoreChanged, placement.Sentence(other))
	if told := e.events("train"); len(told) != 1 {
		t.Errorf("after a restart there are %d events: %+v", len(told), told)
	}
	for _, write := range e.calls.take() {
		if strings.Contains(write, "/placements/train/") {
			t.Errorf("after a restart the bridge has written %s", write)
		}
	}
}

func TestTheLeaderAloneExplains(t *testing.T) {
	t.Parallel()
	first := start(t, func(o *app.Options) { o.Identity = "first" })
	eventually(t, "the first leads", func() error { return first.says("held by this replica", 1) })
	second := prepare(t, func(o *app.Options) { o.Identity, o.Namespace = "second", first.options.Namespace })
	second.bus, second.ns = first.bus, first.ns
	second.run()
	d := move(first.placement("train", true))
	first.explains("train", first.decide(d), "True", placement.CauseScoreChanged, placement.Sentence(d))
	for _, write := range second.calls.take() {
		if !strings.Contains(write, "/leases") {
			t.Errorf("a replica that waits has written %s", write)
		}
	}
	first.stop()
	other := move(second.placement("other", true))
	second.explains("other", second.decide(other), "True", placement.CauseScoreChanged, placement.Sentence(other))
	for name, want := range map[string]string{"train": "first", "other": "second"} {
		if told := second.events(name); len(told) != 1 || told[0].ReportingInstance != want {
			t.Errorf("%s has the events %+v, want one by %s", name, told, want)
		}
	}
}

func TestARefusedDecisionIsExplained(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", true)
	e.applied(move(p))
	odd := move(p)
	odd.Clusters[0].Group = 3
	sequence := e.decide(odd)
	eventually(t, "the Placement says that the decision is refused", func() error {
		c := e.explained("train")
		if c == nil || c.Status != metav1.ConditionFalse || c.Reason != bridge.ReasonBadDecision || !strings.Contains(c.Message, "clusters[0].group") ||
			!strings.HasPrefix(c.Message, fmt.Sprintf("Decision %d: ", sequence)) {
			return fmt.Errorf("it is %+v", c)
		}
		return nil
	})
	if !slices.ContainsFunc(e.events("train"), func(o eventsv1.Event) bool {
		return o.Type == corev1.EventTypeWarning && o.Reason == bridge.ReasonBadDecision
	}) {
		t.Errorf("the events are %+v", e.events("train"))
	}
}

func TestAReleasedPlacementExplainsNothing(t *testing.T) {
	t.Parallel()
	e := start(t)
	d := move(e.placement("train", true))
	e.explains("train", e.decide(d), "True", placement.CauseScoreChanged, placement.Sentence(d))
	e.retry(func() error {
		p := e.get("train")
		p.Annotations = nil
		_, err := e.hub.ClusterV1beta1().Placements(e.ns).Update(t.Context(), p, metav1.UpdateOptions{})
		return err
	})
	eventually(t, "our condition is gone", func() error {
		if c := e.explained("train"); c != nil {
			return fmt.Errorf("it is %+v", c)
		}
		return nil
	})
	if c := meta.FindStatusCondition(e.get("train").Status.Conditions, clusterv1beta1.PlacementConditionSatisfied); c == nil {
		t.Error("the condition that OCM knows is gone too")
	}
}

// An Event is created and nothing else is done with any.
func TestRightsToEvents(t *testing.T) {
	t.Parallel()
	config, err := grant()
	if err != nil {
		t.Fatal(err)
	}
	reviews := kubernetes.NewForConfigOrDie(config).AuthorizationV1().SelfSubjectAccessReviews()
	for _, verb := range []string{"create", "get", "list", "watch", "update", "patch", "delete"} {
		for _, group := range []string{"", "events.k8s.io"} {
			review, err := reviews.Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: "events", Namespace: "default"},
			}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if want := verb == "create" && group == "events.k8s.io"; review.Status.Allowed != want {
				t.Errorf("the bridge may %s events of group %q: %t", verb, group, review.Status.Allowed)
			}
		}
	}
}

// TestASlipOnANativePlacementIsTold: no decision of ours says it.
func TestASlipOnANativePlacementIsTold(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("train", false)
	p.Annotations = map[string]string{placement.AnnotationMode: "shade"}
	if _, err := e.hub.ClusterV1beta1().Placements(e.ns).Update(t.Context(), p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the slip is told", func() error {
		told := e.events("train")
		if len(told) != 1 || told[0].Reason != bridge.ReasonBadAnnotation || told[0].Type != corev1.EventTypeWarning || !strings.Contains(told[0].Note, `spokewire.dev/mode is "shade": write shadow`) {
			return fmt.Errorf("the events are %+v", told)
		}
		return nil
	})
	if c := e.explained("train"); c != nil {
		t.Errorf("it explains itself: %+v", c)
	}
}
