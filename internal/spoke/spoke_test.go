package spoke

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestWorkShowsInTheMetricsWhileItRunsAndNotAfter(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	w := New(registry, 2)
	server := httptest.NewServer(Handler(w, registry))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go w.Run(ctx, 2)

	waitForMetric(t, server.URL, "spokewire_spoke_slots_free 2")
	post(t, server.URL+"/work?jobs=3&blocks=20", http.StatusAccepted)
	waitForMetric(t, server.URL, "spokewire_spoke_slots_free 0")
	waitForMetric(t, server.URL, "spokewire_spoke_jobs_queued 1")
	waitForMetric(t, server.URL, "spokewire_spoke_hashed_blocks_total 60")
	waitForMetric(t, server.URL, "spokewire_spoke_slots_free 2")
}

func TestWorkRefusesNonsense(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	server := httptest.NewServer(Handler(New(registry, 1), registry))
	defer server.Close()
	for _, query := range []string{"", "jobs=0&blocks=1", "jobs=1&blocks=x", "jobs=1&blocks=999999999", "jobs=5000&blocks=1"} {
		post(t, server.URL+"/work?"+query, http.StatusBadRequest)
	}
	post(t, server.URL+"/work?jobs=1024&blocks=1", http.StatusAccepted)
	post(t, server.URL+"/work?jobs=1&blocks=1", http.StatusTooManyRequests)
}

func post(t *testing.T, url string, want int) {
	t.Helper()
	r, err := http.Post(url, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != want {
		t.Errorf("POST %s: %s, want %d", url, r.Status, want)
	}
}

func waitForMetric(t *testing.T, url, line string) {
	t.Helper()
	var last string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		r, err := http.Get(url + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if last = string(body); strings.Contains(last, "\n"+line+"\n") || strings.Contains(last, "\n"+line+".0\n") {
			return
		}
	}
	t.Fatalf("no line %q in the metrics:\n%s", line, last)
}
