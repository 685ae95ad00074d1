package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScorerScripts runs the scripts beside a scoring service that is good,
// one that answers HTML, and one that does not answer.
func TestScorerScripts(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	servers := map[string]*httptest.Server{
		"GOOD":   httptest.NewServer(scoringService(scoreEach)),
		"HTML":   httptest.NewServer(scoringService(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") })),
		"SILENT": httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released })),
	}
	t.Cleanup(func() {
		close(released)
		for _, s := range servers {
			s.Close()
		}
	})
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "scorer"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			prompt(e)
			e.Setenv("PYTHONDONTWRITEBYTECODE", "1")
			for name, s := range servers {
				e.Setenv(name, s.URL)
			}
			return nil
		},
	})
}

func scoringService(scores http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /config", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"name":"n","source":{"type":"Prometheus","path":"/api/v1/query_range","params":{"query":"up","range":600,"step":60}},`+
			`"scoring":{"path":"/scoring","params":{"name":"s","interval":30}}}`)
	})
	mux.HandleFunc("POST /scoring", scores)
	return mux
}

// scoreEach scores each series for those who have the token.
func scoreEach(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer the-token" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	type series struct {
		Metric map[string]string `json:"metric"`
		Score  float64           `json:"score"`
	}
	var in struct{ Data []series }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"results": append([]series{}, in.Data...)}); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}
