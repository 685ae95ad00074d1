// Package testwait lets tests on real parts wait for what is to come.
package testwait

import (
	"testing"
	"time"
)

const (
	patience = 30 * time.Second
	poll     = 5 * time.Millisecond
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
