package stack

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Who stops a start is told so, and not that something took too long.
func TestWaitsSayThatTheyWereStopped(t *testing.T) {
	t.Parallel()
	unready := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "streams: behind", http.StatusServiceUnavailable)
	}))
	t.Cleanup(unready.Close)
	failure := errors.New("another part failed")
	waits := map[string]struct {
		wait func(context.Context) error
		want string
	}{
		"a service":  {func(ctx context.Context) error { return waitForReady(ctx, "scorer", unready.URL) }, "scorer is not ready: stopped waiting: another part failed: "},
		"a listener": {func(ctx context.Context) error { return waitForListener(ctx, "127.0.0.1:1") }, "nothing listens on 127.0.0.1:1: stopped waiting: another part failed: "},
		"a leader": {func(ctx context.Context) error {
			s := &Stack{options: Options{Servers: 3}}
			return s.onceElected(ctx, func() error { return errors.New("no leader") })
		}, "the servers elect no leader: stopped waiting: another part failed: no leader"},
	}
	for name, tt := range waits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancelCause(t.Context())
			stop(failure)
			if err := tt.wait(ctx); !errors.Is(err, failure) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s…", err, tt.want)
			}
		})
	}
}
