// Package testwait lets tests on real parts wait for what is to come.
package testwait

import (
	"context"
	"testing"
	"time"
)

const (
	patience = 30 * time.Second
	poll     = 5 * time.Millisecond
	slowPoll = 20 * time.Millisecond
)

// Eventually waits until ok returns true, and fails the test with what after
// half a minute.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(poll) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s: %s", patience, what)
		}
	}
}

// Within waits until check returns "", and fails the test with what it said
// last.
func Within(t testing.TB, limit time.Duration, check func() string) {
	t.Helper()
	if last := Until(t.Context(), limit, check); last != "" {
		t.Fatalf("not within %s: %s", limit, last)
	}
}

// Until waits until check returns "", ctx ends or the limit is reached, and
// returns what check said last.
func Until(ctx context.Context, limit time.Duration, check func() string) string {
	last := "never looked"
	for deadline := time.Now().Add(limit); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(slowPoll) {
		if last = check(); last == "" {
			break
		}
	}
	return last
}
