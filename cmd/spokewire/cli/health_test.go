package cli

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spokewire/spokewire/internal/process"
)

// TestHealthScript runs the script against processes that are well, unwell,
// silent and behind TLS.
func TestHealthScript(t *testing.T) {
	t.Parallel()
	handler := healthHandler(nil)
	healthy, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	unwell := httptest.NewServer(healthHandler(errors.New("no connection")))
	released := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released }))
	t.Cleanup(func() {
		close(released)
		for _, s := range []*httptest.Server{healthy, secure, unwell, silent} {
			s.Close()
		}
	})
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "health"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			prompt(e)
			ca := filepath.Join(e.WorkDir, "ca.crt")
			e.Setenv("HEALTHY", healthy.URL)
			e.Setenv("UNWELL", unwell.URL)
			e.Setenv("SILENT", silent.URL)
			e.Setenv("SECURE", secure.URL)
			e.Setenv("CA", ca)
			return os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600)
		},
	})
}

// healthHandler answers as a process of ours whose bus is in that state.
func healthHandler(bus error) http.Handler {
	health := process.NewHealth()
	health.Ready("bus", func() error { return bus })
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.Handle("GET /moved", http.RedirectHandler("/healthz", http.StatusFound))
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := health.CheckReady(); err != nil {
			http.Error(w, "[-] "+err.Error(), http.StatusServiceUnavailable)
		}
	})
	return mux
}
