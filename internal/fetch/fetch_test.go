package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crypto/tls"
	"crypto/x509"

	"github.com/spokewire/spokewire/internal/authority"
	"github.com/spokewire/spokewire/internal/failure"
)

func get(t *testing.T, c *Client, url string) (Answer, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	answer, err := c.Do(request, &body)
	return answer, body.String(), err
}

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	if o.MaxBytes == 0 {
		o.MaxBytes = 1 << 20
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func wantFailure(t *testing.T, what string, err error, reason failure.Reason, text string) {
	t.Helper()
	if failure.Of(err) != reason || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: the error is %v (%s), want %s with %q", what, err, failure.Of(err), reason, text)
	}
}

func TestTokenIsReadForEachRequest(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "token")
	c := newClient(t, Options{BearerTokenFile: path})
	for _, token := range []string{"one", "two"} {
		write(t, path, []byte(token+"\n"))
		if _, body, err := get(t, c, server.URL); err != nil || body != "Bearer "+token {
			t.Errorf("the server saw %q, %v", body, err)
		}
	}
	write(t, path, []byte(" \n"))
	_, _, err := get(t, c, server.URL)
	wantFailure(t, "an empty file", err, failure.Credentials, "is empty")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, _, err = get(t, c, server.URL)
	wantFailure(t, "a file that is gone", err, failure.Credentials, "no such file")
	write(t, path, []byte("three"))
	if _, body, err := get(t, c, server.URL); err != nil || body != "Bearer three" {
		t.Errorf("the file is back: the server saw %q, %v", body, err)
	}
}

// pki is an authority with a server's and a client's certificates.
type pki struct {
	ca             []byte
	server, client authority.Pair
}

func newPKI(t *testing.T, name string) pki {
	t.Helper()
	a, err := authority.New(name, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	server, err := a.Server(time.Now(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	client, err := a.Client(time.Now(), "collector of "+name)
	if err != nil {
		t.Fatal(err)
	}
	return pki{ca: a.Pair().Cert, server: server, client: client}
}

// serve answers with the name of the client's certificate.
func (p pki) serve(t *testing.T) string {
	t.Helper()
	pair, err := tls.X509KeyPair(p.server.Cert, p.server.Key)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(p.ca)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert} //nolint:gosec // a test
	server.Config.ErrorLog = log.New(io.Discard, "", 0)                                                                             // it tells of clients that do not trust it
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

func TestCertificatesRotate(t *testing.T) {
	t.Parallel()
	first, second := newPKI(t, "first"), newPKI(t, "second")
	dir := t.TempDir()
	files := TLS{CAFile: filepath.Join(dir, "ca"), CertFile: filepath.Join(dir, "cert"), KeyFile: filepath.Join(dir, "key")}
	use := func(p pki) {
		write(t, files.CAFile, p.ca)
		write(t, files.CertFile, p.client.Cert)
		write(t, files.KeyFile, p.client.Key)
	}
	use(first)
	c := newClient(t, Options{TLS: files})
	one, two := first.serve(t), second.serve(t)
	if _, body, err := get(t, c, one); err != nil || body != "collector of first" {
		t.Errorf("before: %q, %v", body, err)
	}
	_, _, err := get(t, c, two)
	wantFailure(t, "a server of another CA", err, failure.Unreachable, "certificate")
	use(second)
	if _, body, err := get(t, c, two); err != nil || body != "collector of second" {
		t.Errorf("after: %q, %v", body, err)
	}
	_, _, err = get(t, c, one)
	wantFailure(t, "a server of the CA that is no more trusted", err, failure.Unreachable, "certificate")
	write(t, files.CAFile, []byte("?"))
	_, _, err = get(t, c, two)
	wantFailure(t, "a CA file without a certificate", err, failure.Credentials, "tls.caFile")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/no":
			http.Error(w, "no: "+strings.Repeat("x", 1<<20), http.StatusForbidden)
		}
	}))
	t.Cleanup(server.Close)
	c := newClient(t, Options{})
	for path, want := range map[string]string{"/moved": `302 Found to "/elsewhere"`, "/no": "403 Forbidden"} {
		answer, body, err := get(t, c, server.URL+path)
		if err != nil || len(body) > maxRefusal {
			t.Fatalf("%s: %v, %d bytes", path, err, len(body))
		}
		wantFailure(t, path, answer.OK(), failure.BadStatus, want)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	untilTheEnd := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	wantFailure(t, "late", Within(t.Context(), time.Millisecond, untilTheEnd), failure.Timeout, "timeout 1ms")
	ended, end := context.WithCancel(t.Context())
	end()
	wantFailure(t, "ended", Within(ended, time.Minute, untilTheEnd), failure.Cancelled, "")
	own := failure.Newf(failure.BadAnswer, "?")
	if err := Within(t.Context(), time.Minute, func(context.Context) error { return own }); !errors.Is(err, own) {
		t.Errorf("the error is %v", err)
	}
}
