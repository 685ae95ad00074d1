package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/spokewire/spokewire/internal/failure"
)

type watcher = watch.Interface

// Resources that are watched.
const (
	nodes = "nodes"
	pods  = "pods"
)

// errWaiting is what there is to say before anything failed.
var errWaiting = errors.New("the API server has not answered")

// watches knows which watches are open right now. An informer does not tell:
// while it cannot reach the API server, it goes on showing what it saw last.
type watches struct {
	mu    sync.Mutex
	known map[string]*state
}

// state is that of one resource's watch.
type state struct {
	open  int       // watches, usually one
	since time.Time // when the last one ended, or the process began
	last  error     // why it could not be opened again
}

func newWatches() *watches {
	now := time.Now()
	return &watches{known: map[string]*state{nodes: {since: now}, pods: {since: now}}}
}

// err says why what was seen last cannot be relied on, nil if it can. synced
// are the resources that were read as a whole.
func (w *watches) err(now time.Time, synced map[string]bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, resource := range slices.Sorted(maps.Keys(w.known)) {
		s := w.known[resource]
		switch down := now.Sub(s.since); {
		case synced[resource] && (s.open > 0 || down < grace):
		case apierrors.IsForbidden(s.last) || apierrors.IsUnauthorized(s.last):
			return failure.Newf(failure.Refused, "the API server does not let the collector list and watch %s: %w", resource, s.last)
		case !synced[resource]:
			return failure.Newf(failure.Unreachable, "%s have not been read yet: %w", resource, cmp.Or(s.last, errWaiting))
		default:
			return failure.Newf(failure.Unreachable, "%s have not been watched for %s: %w", resource, down.Truncate(time.Second), cmp.Or(s.last, errWaiting))
		}
	}
	return nil
}

// failed takes note of why resource cannot be watched.
func (w *watches) failed(resource string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known[resource].last = err
}

func (w *watches) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		s := w.known[path.Base(request.URL.Path)]
		if s == nil || request.URL.Query().Get("watch") == "" {
			return response, err
		}
		if err != nil {
			w.failed(path.Base(request.URL.Path), err)
			return response, err
		}
		if response.StatusCode == http.StatusOK {
			response.Body = w.opened(s, response.Body)
		}
		return response, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// opened counts a watch as open until its body ends or is closed.
func (w *watches) opened(s *state, body io.ReadCloser) io.ReadCloser {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.open++
	s.last = nil
	return &stream{ReadCloser: body, end: sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		s.open--
		s.since = time.Now()
	})}
}

// stream is the body of a watch.
type stream struct {
	io.ReadCloser
	end func()
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil {
		s.end()
	}
	return n, err
}

func (s *stream) Close() error {
	s.end()
	return s.ReadCloser.Close()
}

// quietHandler passes errors on, as something to debug by.
type quietHandler struct{ slog.Handler }

func (h quietHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelError && h.Handler.Enabled(ctx, slog.LevelDebug)
}

func (h quietHandler) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return h.Handler.Handle(ctx, r)
}
