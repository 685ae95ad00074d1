package faults

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/testwait"
)

// calm breaks nothing: two replicas of every service at once are disturbance
// enough.
func calm() scenario {
	return scenario{name: "two-replicas", bound: 2 * time.Second, strike: func(t *testing.T, r *round) {
		wait(t, r.pick(10*time.Second, 2*time.Second))
	}}
}

// twice publishes every event three times, two of them stored.
func twice() scenario {
	return scenario{name: "every-event-twice", bound: 2 * time.Second, again: true, strike: func(t *testing.T, r *round) {
		wait(t, r.pick(10*time.Second, 2*time.Second))
	}}
}

// killServices kills collectors and services at random moments, replicas
// that lead and such that do not.
func killServices() scenario {
	return scenario{name: "kill-services", bound: 10 * time.Second, strike: func(t *testing.T, r *round) {
		victims := slices.DeleteFunc(r.stack.Processes(), func(name string) bool {
			return !strings.HasPrefix(name, "collector-") && !slices.Contains(r.services(), name)
		})
		r.random.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
		for _, victim := range victims {
			r.kill(t, victim)
			wait(t, r.moment(400*time.Millisecond))
		}
	}}
}

// killNATS kills the server, which the stack starts again at once.
func killNATS() scenario {
	return scenario{name: "kill-nats", bound: 10 * time.Second, strike: func(t *testing.T, r *round) {
		r.kill(t, "nats")
		wait(t, r.moment(time.Second))
	}}
}

// kill ends a process with SIGKILL and waits until another has its place.
func (r *round) kill(t *testing.T, victim string) {
	t.Helper()
	before := r.stack.PID(victim)
	if err := r.stack.Kill(victim); err != nil {
		t.Fatal(err)
	}
	if left := testwait.Until(t.Context(), 20*time.Second, func() string {
		if r.stack.PID(victim) == before {
			return victim + " was not started again"
		}
		return ""
	}); left != "" {
		t.Fatal(left)
	}
}
