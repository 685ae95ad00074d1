package tour

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// The demo's scoring service: as `spokewire scorer init` writes them, with a
// query, and as many scorers as there are paths.
const (
	freeSlots = "spokewire_spoke_slots_free"
	allSlots  = 8
	window    = 30 // seconds
)

// serveScoring serves the scoring service on loopback until ctx ends, and
// returns its URL and what waits for its end.
func serveScoring(ctx context.Context) (url string, wait func() error, err error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /{scorer}/config", describe)
	mux.HandleFunc("POST /{scorer}/score", score)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	var group errgroup.Group
	group.Go(func() error {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
	return "http://" + l.Addr().String(), group.Wait, nil
}

// describe says what a scorer wants to know, and how often.
func describe(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("scorer")
	fmt.Fprintf(w, `{"name": %q, "description": "free slots",
  "source": {"type": "Prometheus", "host": "http://prometheus.monitoring.svc:9090", "path": "/api/v1/query_range",
             "params": {"query": %q, "range": %d, "step": 1}},
  "scoring": {"path": "/%s/score", "params": {"name": "demo_%s", "interval": 1}}}`, name, freeSlots, window, name, name)
}

// score makes of each series the share of slots that are free, over its
// values.
func score(w http.ResponseWriter, r *http.Request) {
	type result struct {
		Metric map[string]string `json:"metric"`
		Score  float64           `json:"score"`
	}
	var request struct {
		Data []struct {
			Metric map[string]string `json:"metric"`
			Values [][2]any          `json:"values"`
		} `json:"data"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	results := []result{}
	for _, series := range request.Data {
		sum := 0.0
		for _, value := range series.Values {
			text, _ := value[1].(string)
			number, err := strconv.ParseFloat(text, 64)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			sum += number
		}
		if n := len(series.Values); n > 0 {
			results = append(results, result{series.Metric, sum / float64(n) / allSlots * 100})
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"results": results}) // to one who may have gone
}
