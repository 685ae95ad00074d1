package process_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/testwait"
)

// start runs a service until the test ends and returns where it listens.
func start(t *testing.T, run func(context.Context, process.Runtime) error) string {
	t.Helper()
	o := process.DefaultOptions()
	address := make(chan string, 1)
	o.Listening = func(a string) { address <- a }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- process.Run(ctx, "test", o, run) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run() = %v after its context ended, want nil", err)
		}
	})
	return "http://" + <-address
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

func TestHealthSaysWhichCheckFailsAndWhy(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	reason := errors.New("still reading SW_HUB")
	url := start(t, func(ctx context.Context, rt process.Runtime) error {
		rt.Health.Live("work", func() error { return nil })
		rt.Health.Ready("streams", func() error {
			mu.Lock()
			defer mu.Unlock()
			return reason
		})
		<-ctx.Done()
		return ctx.Err()
	})
	testwait.Eventually(t, "the process is no longer ready", func() bool { status, _ := get(t, url+"/readyz"); return status == http.StatusServiceUnavailable })
	if _, body := get(t, url+"/readyz"); !strings.Contains(body, "[-] streams: still reading SW_HUB") {
		t.Errorf("/readyz says %q, want the check and its reason", body)
	}
	if status, body := get(t, url+"/healthz"); status != http.StatusOK || !strings.Contains(body, "[+] work ok") {
		t.Errorf("/healthz says %d %q", status, body)
	}
	mu.Lock()
	reason = nil
	mu.Unlock()
	if status, body := get(t, url+"/readyz"); status != http.StatusOK {
		t.Errorf("/readyz says %d %q once its check passes", status, body)
	}
	if _, body := get(t, url+"/metrics"); !strings.Contains(body, "go_goroutines") {
		t.Error("/metrics lacks the process's own metrics")
	}
}

func TestRunReturnsTheServicesError(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such stream")
	err := process.Run(t.Context(), "test", process.DefaultOptions(), func(context.Context, process.Runtime) error {
		return fmt.Errorf("read: %w", broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("Run() = %v, want %v", err, broken)
	}
}

func TestWrongFlagsAreNamed(t *testing.T) {
	t.Parallel()
	for flag, change := range map[string]func(*process.Options){
		"--log-level":  func(o *process.Options) { o.LogLevel = "loud" },
		"--log-format": func(o *process.Options) { o.LogFormat = "xml" },
		"--listen":     func(o *process.Options) { o.Listen = "nowhere:99999" },
	} {
		o := process.DefaultOptions()
		change(&o)
		err := process.Run(t.Context(), "test", o, func(context.Context, process.Runtime) error { return nil })
		if err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("Run() = %v, want an error that names %s", err, flag)
		}
	}
}

func TestTracesGoOnWithoutAnExporter(t *testing.T) {
	t.Parallel()
	o := process.DefaultOptions()
	o.Listen = ""
	err := process.Run(t.Context(), "test", o, func(ctx context.Context, rt process.Runtime) error {
		parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, Remote: true})
		_, span := rt.Tracer.Tracer("test").Start(trace.ContextWithSpanContext(ctx, parent), "child")
		if span.SpanContext().TraceID() != parent.TraceID() {
			return errors.New("a span is not in the trace of its parent")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHelpDoesNotPrintThePassword(t *testing.T) {
	t.Setenv("NATS_URL", "nats://user:secret@127.0.0.1:4222")
	o := process.DefaultBusOptions()
	c := process.Command("thing", "Do a thing", func(fs *pflag.FlagSet) { o.AddFlags(fs) }, func(context.Context, process.Runtime) error { return nil })
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetArgs([]string{"--help"})
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "secret") {
		t.Errorf("--help prints the password:\n%s", out.String())
	}
	if !regexp.MustCompile(`--nats-url`).MatchString(out.String()) {
		t.Errorf("--help lacks --nats-url:\n%s", out.String())
	}
}
