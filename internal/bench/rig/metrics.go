package rig

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/stack"
)

// get reads a page of a service's listener.
func (r *Rig) get(ctx context.Context, service, path string, most time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Health(service)+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s with %s", service, path, response.Status)
	}
	return text, err
}

// Metric returns the sum of a service's series of that name, of those that
// have each of the labels, written as name="value".
func (r *Rig) Metric(ctx context.Context, service, name string, labels ...string) (float64, error) {
	text, err := r.get(ctx, service, "/metrics", 10*time.Second)
	if err != nil {
		return 0, err
	}
	return sumSeries(text, name, labels), nil
}

func sumSeries(text []byte, name string, labels []string) float64 {
	sum := 0.0
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		series, value, ok := cutLast(lines.Text(), ' ')
		plain, set, _ := strings.Cut(series, "{")
		if !ok || plain != name || !containsAll(set, labels) {
			continue
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			sum += v
		}
	}
	return sum
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func containsAll(s string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(s, part) {
			return false
		}
	}
	return true
}

// Services are those of the stack's services that run on its hub.
func Services() []string { return access.Services() }

func withProfiles(args map[string][]string) map[string][]string {
	out := map[string][]string{}
	for _, name := range append(Services(), stack.ProcessNATS) {
		out[name] = append(append([]string(nil), args[name]...), "--pprof")
	}
	return out
}

// Hub is the API server, as it stands among the processes.
const Hub = "kube-apiserver"

// Profile takes, of each of these processes, a CPU profile for as long as d,
// beside what else goes on, and one of its memory. It returns at once; wait
// for the result of the function. Without a directory for profiles it does
// nothing.
func (r *Rig) Profile(ctx context.Context, label string, d time.Duration, processes ...string) (wait func() error) {
	if r.Env.ProfileDir == "" {
		return func() error { return nil }
	}
	done := make(chan error, len(processes))
	for _, name := range processes {
		go func() { done <- r.profile(ctx, name, label, d) }()
	}
	return func() error {
		var errs []error
		for range processes {
			errs = append(errs, <-done)
		}
		return errors.Join(errs...)
	}
}

func (r *Rig) page(ctx context.Context, process, path string, most time.Duration) ([]byte, error) {
	if process == Hub {
		return r.Hub.ClusterV1().RESTClient().Get().RequestURI(path).Timeout(most).DoRaw(ctx)
	}
	return r.get(ctx, process, path, most)
}

func (r *Rig) profile(ctx context.Context, process, label string, d time.Duration) error {
	err := Poll(ctx, process+" listens", time.Minute, 5*time.Millisecond, func() (bool, error) {
		_, err := r.page(ctx, process, "/healthz", time.Second)
		return err == nil, nil
	})
	if err != nil {
		return err
	}
	for kind, query := range map[string]string{"profile": fmt.Sprintf("?seconds=%d", int(math.Ceil(d.Seconds()))), "heap": ""} {
		text, err := r.page(ctx, process, "/debug/pprof/"+kind+query, d+time.Minute)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.Env.ProfileDir, label+"-"+process+"-"+kind+".pprof"), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
