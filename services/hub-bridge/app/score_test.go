package app_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// scored is a score of the cluster called like the test's namespace, so that
// the namespace of the cluster is there.
func (e *env) scored(scorer string, value int32, validFor time.Duration) *schemas.Score {
	return &schemas.Score{
		Cluster: e.ns, Scorer: scorer, ValidFor: schemas.Duration(validFor),
		Items: []schemas.ScoreItem{
			{Name: scorer, Value: &value, Reason: schemas.ScoreComputedReason},
			{Name: "none", Reason: schemas.ScoreNoSample},
		},
	}
}

func (e *env) score(s *schemas.Score) uint64 {
	e.t.Helper()
	return e.publish(events.ScoreSubject(s.Cluster, s.Scorer), schemas.TypeScoreComputed, s)
}

var errThere = errors.New("not gone")

// hubScore waits until the AddOnPlacementScore passes check.
func (e *env) hubScore(scorer string, check func(*clusterv1alpha1.AddOnPlacementScore) error) *clusterv1alpha1.AddOnPlacementScore {
	e.t.Helper()
	var s *clusterv1alpha1.AddOnPlacementScore
	eventually(e.t, "the hub's score "+scorer, func() (err error) {
		s, err = e.hub.ClusterV1alpha1().AddOnPlacementScores(e.ns).Get(e.t.Context(), scorer, metav1.GetOptions{})
		if err == nil {
			err = check(s)
		}
		return err
	})
	return s
}

func holds(want int32) func(*clusterv1alpha1.AddOnPlacementScore) error {
	return func(s *clusterv1alpha1.AddOnPlacementScore) error {
		if len(s.Status.Scores) != 1 || s.Status.Scores[0].Value != want {
			return fmt.Errorf("scores are %v, want one of %d", s.Status.Scores, want)
		}
		return nil
	}
}

func empty(s *clusterv1alpha1.AddOnPlacementScore) error {
	if len(s.Status.Scores) != 0 {
		return fmt.Errorf("scores are %v, want none", s.Status.Scores)
	}
	return nil
}

func TestScoreIsWritten(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.score(e.scored("gpu", 40, time.Minute))
	if writes := e.calls.take(); len(writes) != 0 {
		t.Errorf("writes %v before the hub has the cluster", writes)
	}
	e.cluster(e.ns)
	s := e.hubScore("gpu", holds(40))
	if !bridge.Ours(s) || s.Status.Scores[0].Name != "gpu" {
		t.Errorf("score is %+v", s)
	}
	if ahead := time.Until(s.Status.ValidUntil.Time); ahead < e.options.ScoreMargin-10*time.Second {
		t.Errorf("validUntil is %s ahead, want about %s", ahead, e.options.ScoreMargin)
	}
	e.calls.take()
	e.score(e.scored("gpu", 40, time.Minute)) // nothing new
	e.score(e.scored("other", 1, time.Minute))
	e.hubScore("other", holds(1))
	e.score(e.scored("gpu", 41, time.Minute))
	if s := e.hubScore("gpu", holds(41)); len(s.ManagedFields) > 0 {
		t.Errorf("the score has managed fields, which double the cost of a write: %v", s.ManagedFields)
	}
	var updates int
	for _, w := range e.calls.take() {
		if strings.Contains(w, "/gpu/") {
			updates++
		}
	}
	if updates != 1 {
		t.Errorf("%d writes of gpu, want one", updates)
	}
	if _, err := last[*schemas.Receipt](e, events.StreamReceipts, events.ReceiptSubject(events.KindScore, e.ns, "gpu")); !errors.Is(err, events.ErrNotFound) {
		t.Errorf("a score that was written has a receipt (%v)", err)
	}
}

func TestScoreIsWithdrawn(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.cluster(e.ns)
	noValue := e.scored("gone", 0, 0)
	noValue.Items = noValue.Items[1:]
	off := e.scored("off", 1, time.Minute)
	off.HubOff = true

	e.score(e.scored("brief", 7, 1500*time.Millisecond))
	e.hubScore("brief", holds(7))
	e.hubScore("brief", empty) // the expiry is nobody's event

	e.score(e.scored("gone", 8, time.Minute))
	e.hubScore("gone", holds(8))
	e.score(noValue)
	e.hubScore("gone", empty)
	e.score(e.scored("gone", 9, time.Minute))
	e.hubScore("gone", holds(9))

	for name, end := range map[string]func(){
		"off": func() { e.score(off) },
		"deleted": func() {
			e.publish(events.ScoreSubject(e.ns, "deleted"), schemas.TypeScoreDeleted, &schemas.Deleted{Name: "deleted"}, events.Tombstone())
		},
	} {
		e.score(e.scored(name, 1, time.Minute))
		e.hubScore(name, holds(1))
		end()
		eventually(t, name+" is deleted", func() error {
			_, err := e.hub.ClusterV1alpha1().AddOnPlacementScores(e.ns).Get(t.Context(), name, metav1.GetOptions{})
			if !apierrors.IsNotFound(err) {
				return fmt.Errorf("it is there: %w", errors.Join(err, errThere))
			}
			return nil
		})
	}
}

func TestScoreOfOthersIsNotTouched(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.cluster(e.ns)
	e.foreignScore("theirs", 5)
	observed[*schemas.AddOnScore](e, events.KindAddOnScore, e.ns, "theirs", nil)
	sequence := e.score(e.scored("theirs", 99, time.Minute))
	if r := e.receipt(events.KindScore, "theirs", sequence, schemas.OutcomeRefused); r.Reason != bridge.ReasonNotOurs {
		t.Errorf("reason is %s", r.Reason)
	}
	e.hubScore("theirs", holds(5))
}

func TestScoreThatTheHubRefuses(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.cluster(e.ns)
	sequence := e.score(e.scored("Not_A_Name", 1, time.Minute))
	if r := e.receipt(events.KindScore, "Not_A_Name", sequence, schemas.OutcomeRefused); r.Reason != bridge.ReasonRefusedByHub {
		t.Errorf("reason is %s", r.Reason)
	}
	eventually(t, "a dead letter", func() error {
		_, err := last[*schemas.DeadLetter](e, events.StreamDead, events.DeadSubject("hub-bridge", events.StreamScores, sequence))
		return err
	})
	e.score(e.scored("fine", 1, time.Minute))
	e.hubScore("fine", holds(1))
}

// refuseWith answers calls that match with an error of the API server, the
// first n times.
func (e *env) refuseWith(status int, reason metav1.StatusReason, n int, matches func(*http.Request) bool) {
	e.calls.answerWith(func(r *http.Request) *http.Response {
		if n == 0 || !matches(r) {
			return nil
		}
		n--
		body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, status)
		return &http.Response{
			StatusCode: status, Status: http.StatusText(status), Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: readCloser{strings.NewReader(body)},
		}
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

func writesTo(part string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method != http.MethodGet && strings.Contains(r.URL.Path, part) }
}

func TestFaultsOfTheAPIServer(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		reason metav1.StatusReason
		n      int
	}{
		"conflicts":       {http.StatusConflict, metav1.StatusReasonConflict, 3},
		"many conflicts":  {http.StatusConflict, metav1.StatusReasonConflict, 9},
		"internal errors": {http.StatusInternalServerError, metav1.StatusReasonInternalError, 4},
		"overload":        {http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			e.cluster(e.ns)
			p, quiet := e.placement("train", true), e.placement("quiet", true)
			e.applied(decision(p, "a"))
			e.refuseWith(tt.status, tt.reason, tt.n, writesTo("/train"))
			sequence := e.decide(decision(p, "b"))
			e.applied(decision(quiet, "x")) // its neighbour is not held up
			e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeApplied)
			e.selects("train", "b")
			e.refuseWith(tt.status, tt.reason, tt.n, writesTo("/addonplacementscores"))
			e.score(e.scored("gpu", 3, time.Minute))
			e.hubScore("gpu", holds(3))
		})
	}
}
