package process

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
)

// Health answers /healthz (is the process worth keeping?) and /readyz (does
// it do its work now?) from named checks.
type Health struct {
	mu      sync.Mutex
	live    map[string]func() error
	ready   map[string]func() error
	details map[string]func() string
}

// NewHealth returns a Health without checks: alive and ready.
func NewHealth() *Health {
	return &Health{live: map[string]func() error{}, ready: map[string]func() error{}, details: map[string]func() string{}}
}

// Live adds, or replaces, a check of /healthz. A check returns at once.
func (h *Health) Live(name string, check func() error) { h.add(h.live, name, check) }

// Ready adds, or replaces, a check of /readyz.
func (h *Health) Ready(name string, check func() error) { h.add(h.ready, name, check) }

// Detail adds, or replaces, a line of /readyz that informs and decides
// nothing. It returns at once.
func (h *Health) Detail(name string, text func() string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.details[name] = text
}

func (h *Health) add(to map[string]func() error, name string, check func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	to[name] = check
}

// CheckReady returns nil if every check of /readyz passes.
func (h *Health) CheckReady() error {
	for _, r := range h.results(h.ready) {
		if r.err != nil {
			return fmt.Errorf("%s: %w", r.name, r.err)
		}
	}
	return nil
}

type result struct {
	name string
	err  error
}

func (h *Health) results(of map[string]func() error) []result {
	h.mu.Lock()
	checks := maps.Clone(of)
	h.mu.Unlock()
	var results []result
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		results = append(results, result{name, checks[name]()})
	}
	return results
}

// readyHandler answers as handler does, with the details below.
func (h *Health) readyHandler() http.HandlerFunc {
	checks := h.handler(h.ready)
	return func(w http.ResponseWriter, r *http.Request) {
		checks(w, r)
		details := h.Details()
		for _, name := range slices.Sorted(maps.Keys(details)) {
			fmt.Fprintf(w, "[i] %s: %s\n", name, details[name])
		}
	}
}

// Details returns the lines of /readyz that inform, by name.
func (h *Health) Details() map[string]string {
	h.mu.Lock()
	details := maps.Clone(h.details)
	h.mu.Unlock()
	texts := map[string]string{}
	for name, text := range details {
		texts[name] = text()
	}
	return texts
}

// handler answers 200 or 503 with a line for each check.
func (h *Health) handler(checks map[string]func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		results := h.results(checks)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if slices.ContainsFunc(results, func(r result) bool { return r.err != nil }) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		for _, r := range results {
			if r.err != nil {
				fmt.Fprintf(w, "[-] %s: %v\n", r.name, r.err)
			} else {
				fmt.Fprintf(w, "[+] %s ok\n", r.name)
			}
		}
	}
}
