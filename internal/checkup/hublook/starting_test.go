package hublook

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/spokewire/spokewire/internal/hub/fleettest"
	"github.com/spokewire/spokewire/internal/testwait"
)

// A server that is not ready serves no resources of OCM either, which says
// nothing of what is installed.
func TestLookAtAServerThatIsNotReady(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status  map[string]int // by path; 200 for others
		body    string
		unready string
	}{
		"it starts":              {map[string]int{"/readyz": 500}, "[+]ping ok\n[-]etcd failed: reason withheld\n[-]poststarthook/crd-informer-synced failed: reason withheld\nreadyz check failed\n", "etcd, poststarthook/crd-informer-synced"},
		"it says no more":        {map[string]int{"/readyz": 503}, "", "unable to handle the request"},
		"it is busy":             {map[string]int{"/apis": 503}, "", "unable to handle the request"},
		"it ends meanwhile":      {map[string]int{"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/" + binding: 503}, "", "unable to handle the request"},
		"who may not ask, looks": {map[string]int{"/readyz": 403}, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if status := tt.status[r.URL.Path]; status != 0 {
					http.Error(w, tt.body, status)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte("{}"))
			}))
			defer server.Close()
			h := Look(within(t), &rest.Config{Host: server.URL})
			if tt.unready == "" {
				if h.Unready != nil || h.Fault != "" || len(h.Missing) != len(needed()) {
					t.Errorf("got %+v, want that all is missing", h)
				}
				return
			}
			if !strings.Contains(strings.Join(h.Unready, ", "), tt.unready) || h.Fault != "" || len(h.Missing) > 0 {
				t.Errorf("got %+v, want that it is not ready because of %s", h, tt.unready)
			}
		})
	}
}

// While a real API server starts, nothing is said to be missing that is there.
func TestLookWhileTheServerStarts(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t, 0).Hub
	if h := Look(within(t), server.Config); h.Fault != "" || h.Unready != nil || len(h.Missing) > 0 {
		t.Fatalf("got %+v, want that all is served", h)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	last, looks := "", 0
	testwait.Eventually(t, "the server is back", func() bool {
		h := Look(within(t), server.Config)
		looks++
		if len(h.Missing) > 0 {
			t.Errorf("look %d: %+v, but all is installed", looks, h)
		}
		if h.Fault == "" && h.Unready == nil {
			return last != ""
		}
		if text := h.Fault + strings.Join(h.Unready, ", "); text != last {
			t.Logf("look %d: %s", looks, text)
			last = text
		}
		return false
	})
}
