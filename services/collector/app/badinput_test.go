package app

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

// TestBadSourcesHarmNoOther runs a whole collector with a source for each way
// to be bad, and a good one: each says what is wrong with it, and the good one
// misses nothing.
func TestBadSourcesHarmNoOther(t *testing.T) {
	t.Parallel()
	url := eventstest.RunServer(t).URL()
	bus := connect(t, url)
	if err := bus.EnsureStreams(t.Context(), unbounded()); err != nil {
		t.Fatal(err)
	}
	good, scrapes := target(t)
	bad := http.NewServeMux()
	bad.HandleFunc("/html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>It works!</html>")
	})
	bad.HandleFunc("/hangs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	bad.HandleFunc("/flood", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 100_000 {
			fmt.Fprintf(w, "flood{i=\"%d\"} 1\n", i)
		}
	})
	server := httptest.NewServer(bad)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	address, err := child.FreeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Bus.URL, o.ConfigFile = url, filepath.Join(dir, "collector.yaml")
	text := fmt.Sprintf(`
cluster: spoke-1
sources:
  - {name: good, url: %[1]q, interval: 100ms}
  - {name: html, url: "%[2]s/html", interval: 100ms}
  - {name: hangs, url: "%[2]s/hangs", interval: 300ms, timeout: 200ms}
  - {name: flood, url: "%[2]s/flood", interval: 100ms, timeout: 10s}
  - {name: token, url: %[1]q, interval: 100ms, bearerTokenFile: %[3]q}
  - {name: nobody, url: "http://127.0.0.1:1/", interval: 100ms}
  - {name: sent, interval: 100ms, remoteWrite: {listen: %[4]q}}
outbox: {dir: %[5]q}
`, good, server.URL, token, address, filepath.Join(dir, "outbox"))
	if err := os.WriteFile(o.ConfigFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rt := processtest.Runtime(t)
	start(t, o, rt)
	testwait.Eventually(t, "the token is there", func() bool { return strings.HasPrefix(rt.Health.Details()["source token"], "2 samples") })
	if err := os.Remove(token); err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{
		"html": "BadType", "hangs": "Timeout", "flood": "TooManySamples", "token": "Credentials", "nobody": "Unreachable", "sent": "Refused",
	}
	testwait.Within(t, time.Minute, func() string {
		answer, err := http.Post("http://"+address+"/api/v1/write", "text/plain", bytes.NewReader([]byte("hello")))
		if err != nil {
			return err.Error()
		}
		_ = answer.Body.Close()
		for source, reason := range reasons {
			if status := rt.Health.Details()["source "+source]; !strings.Contains(status, reason) {
				return fmt.Sprintf("source %s says %q, want %s", source, status, reason)
			}
		}
		return ""
	})
	before := scrapes.Load()
	testwait.Eventually(t, "the good one goes on", func() bool { return scrapes.Load() >= before+10 })
	seen := 0
	for _, r := range stored(t, bus, events.StreamMetrics) {
		if r.Subject.Name == "good" {
			seen++
		}
	}
	if seen < 10 {
		t.Errorf("%d snapshots of the good source are on the bus", seen)
	}
}
