package faults

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// apiProxy stands between the bridge and the API server, with a certificate
// of its own, and does to the bridge's calls what mood says.
type apiProxy struct {
	kubeconfig string // the bridge's
	server     *httptest.Server
	forward    *httputil.ReverseProxy
	mood       atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
}

// startAPIProxy leads to the API server of a kubeconfig, as its user.
func startAPIProxy(t *testing.T, kubeconfig string) *apiProxy {
	t.Helper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	upstream, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	p := &apiProxy{kubeconfig: filepath.Join(filepath.Dir(kubeconfig), "through-proxy")}
	p.forward = reverse(t, upstream)
	p.server = httptest.NewUnstartedServer(p)
	p.server.EnableHTTP2 = true
	p.server.StartTLS()
	t.Cleanup(func() {
		p.server.CloseClientConnections()
		p.server.Close()
	})
	for _, cluster := range config.Clusters {
		cluster.Server = p.server.URL
		cluster.CertificateAuthority, cluster.InsecureSkipTLSVerify = "", false
		cluster.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	}
	if err := clientcmd.WriteToFile(*config, p.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return p
}

func reverse(t *testing.T, upstream *rest.Config) *httputil.ReverseProxy {
	t.Helper()
	target, err := url.Parse(upstream.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(upstream)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // watches
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

func (p *apiProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if mood := p.mood.Load(); mood != nil && (*mood)(w, r) {
		return
	}
	p.forward.ServeHTTP(w, r)
}

// well lets every call through.
func (p *apiProxy) well() { p.mood.Store(nil) }

// gone ends all connections, and every new call, without an answer.
func (p *apiProxy) gone() {
	mood := func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
	p.mood.Store(&mood)
	p.server.CloseClientConnections()
}

// slow lets every call wait.
func (p *apiProxy) slow(d time.Duration) {
	mood := func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
		return false
	}
	p.mood.Store(&mood)
}

// refuse answers writes with a status, as the API server words it.
func (p *apiProxy) refuse(code int32, reason metav1.StatusReason) {
	mood := func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(int(code))
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: "refused by the test",
		})
		return true
	}
	p.mood.Store(&mood)
}
