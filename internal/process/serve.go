package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

type server struct {
	address string
	http    *http.Server
}

// serve starts the listener of /metrics, /healthz and /readyz.
func serve(ctx context.Context, address string, rt Runtime) (*server, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(rt.Metrics, promhttp.HandlerOpts{}))
	mux.Handle("GET /healthz", rt.Health.handler(rt.Health.live))
	mux.Handle("GET /readyz", rt.Health.readyHandler())
	s := &server{
		address: listener.Addr().String(),
		http:    &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second},
	}
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			rt.Log.Error("metrics listener ended", "error", err)
		}
	}()
	return s, nil
}

func (s *server) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // a scrape that does not end is cut off
	}
}
