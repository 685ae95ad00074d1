package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

type server struct {
	address string
	http    *http.Server
}

// serve starts the listener of o.Listen.
func serve(ctx context.Context, o Options, rt Runtime) (*server, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", o.Listen, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(rt.Metrics, promhttp.HandlerOpts{}))
	mux.Handle("GET /healthz", rt.Health.handler(rt.Health.live))
	mux.Handle("GET /readyz", rt.Health.readyHandler())
	writeTimeout := 30 * time.Second
	if o.Profile {
		writeTimeout = 5 * time.Minute // a profile is written while it is taken
		profile(mux)
	}
	s := &server{
		address: listener.Addr().String(),
		http:    &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: writeTimeout},
	}
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			rt.Log.Error("metrics listener ended", "error", err)
		}
	}()
	return s, nil
}

// profile adds the runtime's profiles to mux.
func profile(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}

func (s *server) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // a scrape that does not end is cut off
	}
}
