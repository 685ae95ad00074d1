package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// anyLock takes every update.
type anyLock struct{ resourcelock.Interface }

func (anyLock) Identity() string { return "me" }
func (anyLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	return nil
}

type answerAll struct{}

func (answerAll) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

// A replica that was halted for longer than its Lease writes nothing when it
// goes on, whatever its context says.
func TestNothingIsWrittenButWhileTheLeaseIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLease("spokewire", slog.New(slog.DiscardHandler), anyLock{})
		client := fenced{answerAll{}, l}
		send := func(method string) error {
			r, err := http.NewRequestWithContext(t.Context(), method, "https://hub/", nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.RoundTrip(r)
			if err == nil {
				_ = response.Body.Close()
			}
			return err
		}
		renew := func(holder string) {
			if err := l.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: holder}); err != nil {
				t.Fatal(err)
			}
		}
		check := func(when string, want error) {
			t.Helper()
			if err := send(http.MethodPut); !errors.Is(err, want) {
				t.Errorf("a write %s: %v, want %v", when, err, want)
			}
			if err := send(http.MethodGet); err != nil {
				t.Errorf("a read %s: %v", when, err)
			}
		}
		check("before the Lease is taken", errNotHeld)
		renew("me")
		check("while it is held", nil)
		time.Sleep(renewDeadline - time.Millisecond)
		check("before the renewal is due", nil)
		time.Sleep(time.Millisecond)
		check("after a renewal that did not come", errNotHeld)
		renew("me")
		check("once it is renewed", nil)
		time.Sleep(renewDeadline)
		began := time.Now()
		time.AfterFunc(time.Second, func() { renew("me") })
		check("that waits for the renewal", nil)
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("it waited for %s", waited)
		}
		renew("")
		began = time.Now()
		check("once it is given up", errNotHeld)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("it waited for %s although there is nothing to wait for", waited)
		}
	})
}
