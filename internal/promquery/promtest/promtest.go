// Package promtest gives tests a real Prometheus: Debian's, as a process on
// loopback.
package promtest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/testwait"
)

const (
	startTimeout = time.Minute
	stopTimeout  = 20 * time.Second
)

// Options of a server.
type Options struct {
	// History is stored before the server starts: OpenMetrics, each line
	// with its time.
	History string
	// Config is its configuration file. Default: it scrapes nothing.
	Config string
}

// Start runs a Prometheus for one test, and returns its URL.
func Start(t testing.TB, o Options) string {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if o.History != "" {
		backfill(t, dir, data, o.History)
	}
	file := filepath.Join(dir, "prometheus.yml")
	write(t, file, o.Config)
	address, err := child.FreeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program("prometheus"), //nolint:gosec // the repository's own
		"--config.file="+file, "--storage.tsdb.path="+data, "--web.listen-address="+address,
		"--storage.tsdb.retention.time=10y", "--log.level=warn", "--web.console.templates="+dir, "--web.console.libraries="+dir)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v (make tools puts it there)", err)
	}
	t.Cleanup(func() {
		_ = cmd.Cancel()
		_ = cmd.Wait() // it was told to end
	})
	url := "http://" + address
	testwait.Within(t, startTimeout, func() string { return ready(t.Context(), url) })
	return url
}

func ready(ctx context.Context, url string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/-/ready", http.NoBody)
	if err != nil {
		return err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return response.Status
	}
	return ""
}

// backfill makes the blocks of a history.
func backfill(t testing.TB, dir, data, history string) {
	t.Helper()
	file := filepath.Join(dir, "history.om")
	write(t, file, history)
	cmd := exec.CommandContext(t.Context(), program("promtool"), "tsdb", "create-blocks-from", "openmetrics", file, data) //nolint:gosec // ditto
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
}

// History returns a gauge's values, one every step, the last of them at end.
func History(series string, end time.Time, step time.Duration, values ...float64) string {
	var b strings.Builder
	for i, v := range values {
		at := end.Add(-time.Duration(len(values)-1-i) * step)
		fmt.Fprintf(&b, "%s %v %.3f\n", series, v, float64(at.UnixMilli())/1000)
	}
	return b.String()
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func program(name string) string { return filepath.Join(hubtest.BinDir(), name) }
