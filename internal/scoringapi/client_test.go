package scoringapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/scoringapi"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func client(t *testing.T, o scoringapi.Options) *scoringapi.Client {
	t.Helper()
	c, err := scoringapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// write makes the file of a mounted Secret's key.
func write(t *testing.T, dir, secret, key, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, secret), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, secret, key), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPostSendsTheTokenAsItIsNow(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.Method + " " + r.Header.Get("Authorization") + " " + r.Header.Get("Content-Type")))
	}))
	defer server.Close()
	dir := t.TempDir()
	c := client(t, scoringapi.Options{Tokens: scoringapi.Tokens(dir)})
	ref := &schemas.TokenRef{Name: "api-auth", Key: "token"}
	if err := c.Token(*ref); reason(err) != dynamic.TokenMissing {
		t.Errorf("a token that is not there: %v, want TokenMissing", err)
	}
	for _, token := range []string{"first\n", "second"} {
		write(t, dir, "api-auth", "token", token)
		answer, err := c.Post(t.Context(), server.URL, ref, []byte("{}"), 100)
		if want := "POST Bearer " + strings.TrimSpace(token) + " application/json"; err != nil || string(answer) != want {
			t.Errorf("got %q, %v, want %q", answer, err, want)
		}
	}
	if answer, err := c.Get(t.Context(), server.URL, 100); err != nil || string(answer) != "GET  " {
		t.Errorf("Get: %q, %v, want no token", answer, err)
	}
}

func TestTokensThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "s", "empty", "\n")
	write(t, dir, "s", "odd", "a\nb")
	write(t, dir, "s", "large", strings.Repeat("x", 65<<10))
	write(t, dir, "s", "good", "secret-text")
	if err := os.Mkdir(filepath.Join(dir, "s", "directory"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		dir  string
		ref  schemas.TokenRef
		want string
	}{
		"no directory":    {"", schemas.TokenRef{Name: "s", Key: "good"}, "--token-dir"},
		"no Secret":       {dir, schemas.TokenRef{Name: "x", Key: "good"}, "mount the Secret x"},
		"no key":          {dir, schemas.TokenRef{Name: "s", Key: "x"}, "no file s/x"},
		"way out":         {dir, schemas.TokenRef{Name: "..", Key: "good"}, "is not the name"},
		"another way out": {dir, schemas.TokenRef{Name: "s", Key: "../s/good"}, "is not the name"},
		"empty":           {dir, schemas.TokenRef{Name: "s", Key: "empty"}, "is empty"},
		"two lines":       {dir, schemas.TokenRef{Name: "s", Key: "odd"}, "HTTP header"},
		"too large":       {dir, schemas.TokenRef{Name: "s", Key: "large"}, "more than"},
		"a directory":     {dir, schemas.TokenRef{Name: "s", Key: "directory"}, "cannot be read"},
	} {
		_, err := scoringapi.Tokens(tt.dir).Read(tt.ref)
		if reason(err) != dynamic.TokenMissing || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want TokenMissing with %q", name, err, tt.want)
		}
		if err != nil && tt.dir != "" && strings.Contains(err.Error(), tt.dir) {
			t.Errorf("%s: the error tells where the directory is: %v", name, err)
		}
	}
}

func reason(err error) string {
	var f *dynamic.Failure
	if errors.As(err, &f) {
		return f.Reason
	}
	return ""
}

func TestWhatAnAPIMayDo(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write(make([]byte, 1001))
		case "/slow":
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		case "/short":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		case "/away":
			http.Redirect(w, r, "http://elsewhere.example/", http.StatusFound)
		case "/unauthorised":
			http.Error(w, "no", http.StatusUnauthorized)
		default:
			http.Error(w, "broken inside", http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	defer close(stop)
	c := client(t, scoringapi.Options{})
	for path, want := range map[string][2]string{
		"/large":        {dynamic.TooLarge, "1000 bytes"},
		"/slow":         {dynamic.Timeout, "no whole answer"},
		"/short":        {dynamic.Unreachable, "broke off"},
		"/away":         {dynamic.BadStatus, "elsewhere.example"},
		"/unauthorised": {dynamic.BadStatus, "another token"},
		"/broken":       {dynamic.BadStatus, "broken inside"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if path == "/slow" {
			ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		}
		_, err := c.Post(ctx, server.URL+path, nil, []byte("{}"), 1000)
		cancel()
		if reason(err) != want[0] || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("%s: %v, want %s with %q", path, err, want[0], want[1])
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ended, server.URL, 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is given up: %v, want its context's error", err)
	}
}

func TestOnlyPermittedHostsAreCalled(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	for _, hosts := range [][]string{nil, {address}, {"127.0.0.1"}, {"a", "*.0.0.1"}} {
		if _, err := client(t, scoringapi.Options{Hosts: hosts}).Get(t.Context(), server.URL, 10); err != nil {
			t.Errorf("hosts %v: %v", hosts, err)
		}
	}
	for _, hosts := range [][]string{{"127.0.0.1:1"}, {"*0.0.1"}, {"*"}, {"example.org"}} {
		if _, err := client(t, scoringapi.Options{Hosts: hosts}).Get(t.Context(), server.URL, 10); reason(err) != dynamic.Forbidden {
			t.Errorf("hosts %v: %v, want Forbidden", hosts, err)
		}
	}
	if _, err := client(t, scoringapi.Options{}).Get(t.Context(), "http://169.254.169.254/latest/meta-data", 10); reason(err) != dynamic.Forbidden {
		t.Errorf("a cloud's metadata: %v, want Forbidden", err)
	}
	if _, err := scoringapi.New(scoringapi.Options{Hosts: []string{"http://a/"}}); err == nil {
		t.Error("a URL is taken for a host")
	}
	if _, err := scoringapi.New(scoringapi.Options{CAFile: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a CA file that is not there is taken")
	}
}
