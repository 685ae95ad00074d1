package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/cloudevents/sdk-go/v2/event"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// outcomes returns the outcome of each answered event of a Placement.
func (e *env) outcomes(name string) map[uint64]string {
	e.t.Helper()
	outcomes := map[uint64]string{}
	for _, m := range e.memory().Messages(events.StreamReceipts) {
		received, err := events.Read(m)
		if err != nil {
			e.t.Fatal(err)
		}
		r, ok := received.Payload.(*schemas.Receipt)
		if ok && r.Subject == events.ConfigSubject(events.KindPlacement, e.ns, name) {
			outcomes[r.Sequence] = r.Outcome + r.Reason
		}
	}
	return outcomes
}

// Each of many requests gets an answer: that it was carried out, or that a
// newer one took its place.
func TestOvertakenRequests(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.receipt(events.KindPlacement, "first", e.request("first", `{}`), schemas.OutcomeApplied) // it leads
	held := make(chan struct{})
	e.calls.answerWith(func(r *http.Request) *http.Response {
		if r.Method == http.MethodPost {
			<-held // the first is on its way while the others come
		}
		return nil
	})
	var sequences []uint64
	for i := range 8 {
		sequences = append(sequences, e.request("train", fmt.Sprintf(`{"numberOfClusters": %d}`, i)))
	}
	close(held)
	e.receipt(events.KindPlacement, "train", sequences[7], schemas.OutcomeApplied)
	eventually(t, "all are answered", func() error {
		outcomes := e.outcomes("train")
		for i, sequence := range sequences {
			got := outcomes[sequence]
			overtaken := got == schemas.OutcomeSuperseded+bridge.ReasonNewerDecision
			if got != schemas.OutcomeApplied && (i == 7 || !overtaken) {
				return fmt.Errorf("request %d was answered %q", i, got)
			}
		}
		return nil
	})
	if n := *e.get("train").Spec.NumberOfClusters; n != 7 {
		t.Errorf("numberOfClusters is %d", n)
	}
}

// badRequest publishes a request that cannot be read.
func (e *env) badRequest(name, spec string) uint64 {
	e.t.Helper()
	payload, err := json.Marshal(map[string]any{
		"apiVersion": schemas.PlacementAPIVersion, "kind": schemas.PlacementKind,
		"metadata": map[string]any{"name": name, "namespace": e.ns}, "spec": json.RawMessage(spec),
	})
	if err != nil {
		e.t.Fatal(err)
	}
	bad := event.New()
	bad.SetID("bad-" + rand.String(8))
	bad.SetType(schemas.TypeConfigPlacement)
	bad.SetSource(events.ServiceSource("test"))
	if err := bad.SetData("application/json", json.RawMessage(payload)); err != nil {
		e.t.Fatal(err)
	}
	ack, err := e.bus.Publish(e.t.Context(), events.ConfigSubject(events.KindPlacement, e.ns, name), bad)
	if err != nil {
		e.t.Fatal(err)
	}
	return ack.Sequence
}

// A bad request is answered and kept; the Placement stays as the last good
// one had it, also for a bridge that starts later.
func TestBadRequestLeavesTheLastGoodOneInForce(t *testing.T) {
	t.Parallel()
	e := start(t)
	if err := bad(e, e.badRequest("train", `7`), "BadPayload"); err != nil {
		t.Error(err)
	}
	good := e.request("train", `{"numberOfClusters": 2}`)
	e.receipt(events.KindPlacement, "train", good, schemas.OutcomeApplied)
	restored := func(when string) {
		t.Helper()
		n := int32(9)
		e.edit("train", func(p *clusterv1beta1.Placement) { p.Spec.NumberOfClusters = &n })
		eventually(t, when+": the edit is reverted", func() error {
			if n := *e.get("train").Spec.NumberOfClusters; n != 2 {
				return fmt.Errorf("numberOfClusters is %d", n)
			}
			return nil
		})
	}
	restored("good")
	if err := bad(e, e.badRequest("train", `7`), "BadPayload"); err != nil {
		t.Error(err)
	}
	restored("unreadable")
	refused := e.request("train", `{"prioritizerPolicy": {"configurations": [{"scoreCoordinate": {"builtIn": "Steady"}, "weight": 99}]}}`)
	if err := bad(e, refused, bridge.ReasonRefusedByHub); err != nil {
		t.Error(err)
	}
	restored("refused by the hub")
	e.stop()
	e.run()
	restored("after a restart")

	// The end of a request is in force as well.
	e.receipt(events.KindPlacement, "train", e.endRequest("train"), schemas.OutcomeApplied)
	if err := bad(e, e.badRequest("train", `8`), "BadPayload"); err != nil {
		t.Error(err)
	}
	e.receipt(events.KindPlacement, "fine", e.request("fine", `{}`), schemas.OutcomeApplied)
	if _, err := e.hub.ClusterV1beta1().Placements(e.ns).Get(t.Context(), "train", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is on the hub again (%v)", err)
	}
}

// bad waits for the receipt and the dead letter of a request that no retry
// mends.
func bad(e *env, sequence uint64, reason string) error {
	e.t.Helper()
	r := e.receipt(events.KindPlacement, "train", sequence, schemas.OutcomeRefused)
	letter, err := last[*schemas.DeadLetter](e, events.StreamDead, events.DeadSubject("hub-bridge", events.StreamConfig, sequence))
	if err != nil {
		return err
	}
	if r.Reason != reason || letter.Reason != reason || r.Message == "" {
		return fmt.Errorf("the receipt is %+v, the letter's reason %s", *r, letter.Reason)
	}
	return nil
}
