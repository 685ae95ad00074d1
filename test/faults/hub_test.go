package faults

import (
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

// killAPIServer kills the hub's API server and starts it again.
func killAPIServer() scenario {
	return scenario{name: "kill-api-server", bound: 20 * time.Second, strike: func(t *testing.T, r *round) { r.replace(t, stack.ProcessAPIServer) }}
}

// killEtcd kills what is under the API server.
func killEtcd() scenario {
	return scenario{name: "kill-etcd", bound: 30 * time.Second, strike: func(t *testing.T, r *round) { r.replace(t, stack.ProcessEtcd) }}
}

func (r *round) replace(t *testing.T, name string) {
	t.Helper()
	must(t, r.stack.Crash(name))
	wait(t, r.pick(5*time.Second, 500*time.Millisecond))
	must(t, r.stack.Continue(t.Context(), name))
	left := testwait.Until(t.Context(), time.Minute, func() string {
		_, err := load.OnHub(t.Context(), r.ocm)
		if err != nil {
			return err.Error()
		}
		return ""
	})
	if left != "" {
		t.Fatalf("the hub does not come back: %s", left)
	}
}

// apiGone lets the bridge reach no API server. The longer that lasts, the
// longer are the informers' pauses between their tries: up to a minute.
func apiGone() scenario {
	return scenario{name: "api-gone", bound: 15 * time.Second, longBound: time.Minute, strike: func(t *testing.T, r *round) {
		r.api.gone()
		defer r.api.well()
		wait(t, r.pick(30*time.Second, 5*time.Second))
	}}
}

// apiSlow lets each of the bridge's calls take two seconds, its renewals of
// the Lease too. Writing goes on, slowly.
func apiSlow() scenario {
	return scenario{name: "api-slow", bound: 15 * time.Second, strike: func(t *testing.T, r *round) {
		const delay = 2 * time.Second
		began := time.Now()
		r.api.slow(delay)
		defer r.api.well()
		wait(t, delay+time.Second) // what was under way is done
		r.moves(t)
		wait(t, r.pick(30*time.Second, 0)-time.Since(began))
		if r.long {
			r.moves(t)
		}
	}}
}

// moves waits until something is written to the hub.
func (r *round) moves(t *testing.T) {
	t.Helper()
	before, err := load.OnHub(t.Context(), r.ocm)
	must(t, err)
	left := testwait.Until(t.Context(), 20*time.Second, func() string {
		now, err := load.OnHub(t.Context(), r.ocm)
		switch {
		case err != nil:
			return err.Error()
		case fold.Diff(now, before) == "":
			return "nothing is written to the hub"
		}
		return ""
	})
	if left != "" {
		t.Error(left)
	}
}

// apiRefuses answers the bridge's writes with errors.
func apiRefuses() scenario {
	return scenario{name: "api-refuses", bound: 15 * time.Second, strike: func(t *testing.T, r *round) {
		defer r.api.well()
		for _, answer := range []struct {
			code   int32
			reason metav1.StatusReason
		}{
			{http.StatusConflict, metav1.StatusReasonConflict},
			{http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests},
			{http.StatusInternalServerError, metav1.StatusReasonInternalError},
		} {
			r.api.refuse(answer.code, answer.reason)
			wait(t, r.pick(10*time.Second, 1500*time.Millisecond))
		}
	}}
}
