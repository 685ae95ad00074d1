package scrape

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

// newTarget returns a Target of url, with the source changed by edit.
func newTarget(t testing.TB, url string, edit func(*config.Source)) *Target {
	t.Helper()
	source := config.Source{Name: "s", URL: url}
	if edit != nil {
		edit(&source)
	}
	source.Default()
	if err := source.Validate(); err != nil {
		t.Fatal(err)
	}
	target, err := New(source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	return target
}

// text answers with body as Prometheus text.
func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = io.WriteString(w, body)
	}
}

func openMetrics(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept"), "application/openmetrics-text") {
			http.Error(w, "not asked for", http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		_, _ = io.WriteString(w, body)
	}
}

// endless streams valid text until the client goes.
func endless(w http.ResponseWriter, r *http.Request) {
	for i := 0; r.Context().Err() == nil; i++ {
		if _, err := fmt.Fprintf(w, "a_%d 1\n", i); err != nil {
			return
		}
		if i%1000 == 0 {
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// drip sends a line now and then, for ever, and never enough.
func drip(w http.ResponseWriter, r *http.Request) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		_, _ = io.WriteString(w, "a 1\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
		}
	}
}

func gzipped(body string, times int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		z := gzip.NewWriter(w)
		for range times {
			_, _ = io.WriteString(z, body)
		}
		_ = z.Close()
	}
}

func TestScrape(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	short := func(s *config.Source) { s.Timeout = config.Of(100 * time.Millisecond) }
	tests := map[string]struct {
		handler    http.HandlerFunc
		edit       func(*config.Source)
		want       int // samples
		wantReason failure.Reason
		wantErr    string
	}{
		"text":           {handler: text("a 1\nb 2\n"), want: 2},
		"nothing":        {handler: text(""), want: 0},
		"gzip":           {handler: gzipped("a 1\n", 1), want: 1},
		"OpenMetrics":    {handler: openMetrics("# TYPE a counter\na_total 1 # {id=\"x\"} 1\n# EOF\n"), want: 1},
		"NaN beside one": {handler: text("a NaN\nb 2\n"), want: 1},
		"OpenMetrics cut before its end": {
			handler: openMetrics("a 1\n"), wantReason: failure.BadExposition, wantErr: "EOF",
		},
		"HTML": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = io.WriteString(w, "<html>")
			},
			wantReason: failure.BadType, wantErr: "text/html",
		},
		"text with a wrong type, by format": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/octet-stream")
				_, _ = io.WriteString(w, "a 1\n")
			},
			edit: func(s *config.Source) { s.Format = config.FormatText }, want: 1,
		},
		"an encoding that was not asked for": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "br")
				_, _ = io.WriteString(w, "?")
			},
			wantReason: failure.BadType, wantErr: `"br"`,
		},
		"not found": {handler: http.NotFound, wantReason: failure.BadStatus, wantErr: "404"},
		"redirect": {
			handler: http.RedirectHandler("http://elsewhere/", http.StatusFound).ServeHTTP, wantReason: failure.BadStatus, wantErr: `"http://elsewhere/"`,
		},
		"bad text in the middle": {handler: text("a 1\n?\nb 2\n"), wantReason: failure.BadExposition, wantErr: "after 1 series"},
		"a million labels": {
			handler: text("a{" + strings.Repeat(`x="",`, 1_000_000) + "} 1\nb 2\n"), want: 1,
			edit: func(s *config.Source) { s.Timeout = config.Of(config.MaxTimeout) },
		},
		"larger than the limit": {
			handler: text("a 1\nb 2\n"), edit: func(s *config.Source) { s.Limits.BodyBytes = 7 },
			wantReason: failure.TooLarge, wantErr: "limits.bodyBytes, 7",
		},
		"as large as the limit": {
			handler: text("a 1\nb 2\n"), edit: func(s *config.Source) { s.Limits.BodyBytes = 8 }, want: 2,
		},
		"a gzip bomb":       {handler: gzipped(strings.Repeat(" ", 1<<20), 64), edit: func(s *config.Source) { s.Limits.BodyBytes = 1 << 20 }, wantReason: failure.TooLarge, wantErr: "limits.bodyBytes"},
		"streams for ever":  {handler: endless, edit: func(s *config.Source) { s.Limits.BodyBytes = 1 << 20 }, wantReason: failure.TooLarge, wantErr: "limits.bodyBytes"},
		"too many samples":  {handler: text("a 1\nb 2\n"), edit: func(s *config.Source) { s.Limits.Samples = 1 }, wantReason: failure.TooManySamples, wantErr: "limits.samples"},
		"drips for ever":    {handler: drip, edit: short, wantReason: failure.Timeout, wantErr: "timeout 100ms"},
		"hangs":             {handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, edit: short, wantReason: failure.Timeout, wantErr: "timeout 100ms"},
		"breaks off":        {handler: breakOff, wantReason: failure.Unreachable, wantErr: "broke off after 4 bytes"},
		"huge headers":      {handler: hugeHeaders, wantReason: failure.Unreachable, wantErr: "header"},
		"with a token":      {handler: needs("Bearer secret"), edit: func(s *config.Source) { s.BearerTokenFile = token }, want: 1},
		"without its token": {handler: needs("Bearer secret"), edit: func(s *config.Source) { s.BearerTokenFile = token + ".none" }, wantReason: failure.Credentials, wantErr: "bearerTokenFile"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.handler)
			t.Cleanup(server.Close)
			start := time.Now()
			got, err := newTarget(t, server.URL, tt.edit).Scrape(t.Context())
			if took := time.Since(start); took > time.Minute {
				t.Errorf("the scrape took %v", took)
			}
			checkError(t, err, tt.wantReason, tt.wantErr)
			if len(got.Samples) != tt.want {
				t.Errorf("%d samples, want %d: %+v", len(got.Samples), tt.want, got)
			}
		})
	}
}

func checkError(t *testing.T, err error, reason failure.Reason, text string) {
	t.Helper()
	var failed *failure.Error
	switch {
	case reason == "" && err != nil:
		t.Fatalf("error is %v", err)
	case reason != "" && (!errors.As(err, &failed) || failed.Reason != reason || !strings.Contains(err.Error(), text)):
		t.Fatalf("error is %v, want reason %s and text %q", err, reason, text)
	}
}

func breakOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, "a 1\n")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func hugeHeaders(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Huge", strings.Repeat("x", 128<<10))
}

func needs(authorization string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != authorization {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		text("a 1\n")(w, r)
	}
}

func TestScrapeNobodyThere(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := newTarget(t, server.URL, nil).Scrape(t.Context())
	checkError(t, err, failure.Unreachable, "refused")
}

func TestScrapeCancelled(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	_, err := newTarget(t, server.URL, nil).Scrape(ctx)
	checkError(t, err, failure.Cancelled, "")
}

func TestScrapeTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(text("a 1\n"))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of clients that do not trust it
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		tls        config.TLS
		wantReason failure.Reason
	}{
		"unknown CA":      {wantReason: failure.Unreachable},
		"known CA":        {tls: config.TLS{CAFile: ca}},
		"any certificate": {tls: config.TLS{InsecureSkipVerify: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newTarget(t, server.URL, func(s *config.Source) { s.TLS = tt.tls }).Scrape(t.Context())
			checkError(t, err, tt.wantReason, "")
		})
	}
}

func TestNewNamesTheField(t *testing.T) {
	t.Parallel()
	notPEM := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(notPEM, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]config.TLS{
		"tls.caFile cannot be read":   {CAFile: notPEM + ".none"},
		"tls.caFile " + notPEM:        {CAFile: notPEM},
		"tls.certFile cannot be used": {CertFile: notPEM, KeyFile: notPEM},
	} {
		_, err := New(config.Source{Name: "s", URL: "https://h/", TLS: o})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

// Rates and quantiles of what an endpoint shows, in both formats.
func TestScrapeDerives(t *testing.T) {
	t.Parallel()
	for name, format := range map[string]func(string) http.HandlerFunc{"text": text, "OpenMetrics": openMetrics} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n++
				body := fmt.Sprintf("# TYPE c counter\nc_total{a=\"b\"} %d\n# TYPE h histogram\nh_bucket{le=\"1\"} %d\nh_bucket{le=\"2\"} %d\nh_bucket{le=\"+Inf\"} %d\nh_sum 1\nh_count %d\n", 20*n, 7, 7+10*n, 7+10*n, 7+10*n)
				body += "# TYPE s summary\ns{quantile=\"0.9\"} 5\ns_sum 1\ns_count 1\n"
				if name == "OpenMetrics" {
					body += "# EOF\n"
				}
				format(body)(w, r)
			}))
			t.Cleanup(server.Close)
			target := newTarget(t, server.URL, func(s *config.Source) {
				s.Keep = []string{"s"}
				s.Derive = &config.Derive{Rates: []string{"c_total"}, Histograms: []string{"h"}, Quantiles: []float64{0.5}}
			})
			now := time.Now()
			target.now = func() time.Time {
				now = now.Add(10 * time.Second)
				return now
			}
			var got sample.Snapshot
			for range 2 {
				var err error
				if got, err = target.Scrape(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			values := map[string]float64{}
			for _, s := range got.Samples {
				values[s.Series()] = s.Value
			}
			want := map[string]float64{`c_per_second{a="b"}`: 2, `h{quantile="0.5"}`: 1.5, `s{quantile="0.9"}`: 5}
			if diff := cmp.Diff(want, values); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func BenchmarkScrape1000(b *testing.B) {
	var body strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&body, "node_value_%d{namespace=\"default\",pod=\"pod-%d\",node=\"node-1\"} %d.5\n", i%100, i, i)
	}
	server := httptest.NewServer(text(body.String()))
	b.Cleanup(server.Close)
	target := newTarget(b, server.URL, func(s *config.Source) { s.Keep = []string{"node_.*"} })
	b.ReportAllocs()
	var got sample.Snapshot
	for b.Loop() {
		var err error
		if got, err = target.Scrape(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	if len(got.Samples) != 1000 {
		b.Fatalf("%d samples", len(got.Samples))
	}
}
