package authority_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/authority"
)

// TestServerAndClientKnowEachOther has the certificates used by a real
// server and its clients.
func TestServerAndClientKnowEachOther(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ours, others := newAuthority(t, now), newAuthority(t, now)
	server := serve(t, ours, must(t)(ours.Server(now, "store", "127.0.0.1")))
	client := must(t)(ours.Client(now, "alice", "readers"))
	tests := map[string]struct {
		trusts *authority.Authority
		client *authority.Pair
		host   string
		wantOK bool
	}{
		"known":                     {trusts: ours, client: &client, host: "store", wantOK: true},
		"by its IP address":         {trusts: ours, client: &client, wantOK: true},
		"another name":              {trusts: ours, client: &client, host: "elsewhere"},
		"server of another":         {trusts: others, client: &client},
		"client of another":         {trusts: ours, client: new(must(t)(others.Client(now, "alice")))},
		"no client":                 {trusts: ours},
		"server's, used by clients": {trusts: ours, client: new(must(t)(ours.Server(now, "alice")))},
		"no longer valid":           {trusts: ours, client: new(must(t)(ours.Client(now.AddDate(-2, 0, 0), "alice")))},
		"not yet valid":             {trusts: ours, client: new(must(t)(ours.Client(now.AddDate(1, 0, 0), "alice")))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := &tls.Config{RootCAs: pool(tt.trusts), ServerName: tt.host}
			if tt.client != nil {
				config.Certificates = []tls.Certificate{keyPair(t, *tt.client)}
			}
			who, err := get(server.URL, config)
			if (err == nil) != tt.wantOK {
				t.Fatalf("error %v, want success %v", err, tt.wantOK)
			}
			if tt.wantOK && who != "alice [readers]" {
				t.Errorf("the server sees %q, want alice of group readers", who)
			}
		})
	}
}

func TestAnAuthorityIsReadBack(t *testing.T) {
	t.Parallel()
	now := time.Now()
	made := newAuthority(t, now)
	read, err := authority.Parse(made.Pair())
	if err != nil {
		t.Fatal(err)
	}
	server := serve(t, made, must(t)(read.Server(now, "127.0.0.1")))
	config := &tls.Config{RootCAs: pool(made), Certificates: []tls.Certificate{keyPair(t, must(t)(read.Client(now, "bob")))}}
	if _, err := get(server.URL, config); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNoAuthorityIsRefused(t *testing.T) {
	t.Parallel()
	now := time.Now()
	a := newAuthority(t, now)
	leaf := must(t)(a.Client(now, "alice"))
	for name, pair := range map[string]authority.Pair{
		"nothing":             {},
		"no authority's cert": leaf,
		"key is no key":       {Cert: a.Pair().Cert, Key: a.Pair().Cert},
		"cert is no cert":     {Cert: a.Pair().Key, Key: a.Pair().Key},
	} {
		if _, err := authority.Parse(pair); err == nil {
			t.Errorf("%s is taken for an authority", name)
		}
	}
	if _, err := a.Server(now); err == nil {
		t.Error("a server without a host gets a certificate")
	}
}

// serve runs a server that answers with the client's name and groups.
func serve(t *testing.T, a *authority.Authority, pair authority.Pair) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := r.TLS.PeerCertificates[0].Subject
		_, _ = io.WriteString(w, fmt.Sprint(subject.CommonName, " ", subject.Organization)) //nolint:misspell // the standard library's spelling
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{keyPair(t, pair)}, ClientCAs: pool(a), ClientAuth: tls.RequireAndVerifyClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func get(url string, config *tls.Config) (string, error) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}, Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	response, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func newAuthority(t *testing.T, now time.Time) *authority.Authority {
	t.Helper()
	a, err := authority.New("test", now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func must(t *testing.T) func(authority.Pair, error) authority.Pair {
	return func(p authority.Pair, err error) authority.Pair {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func keyPair(t *testing.T, p authority.Pair) tls.Certificate {
	t.Helper()
	c, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pool(a *authority.Authority) *x509.CertPool {
	p := x509.NewCertPool()
	p.AppendCertsFromPEM(a.Pair().Cert)
	return p
}
