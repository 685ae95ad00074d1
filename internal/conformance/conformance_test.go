package conformance_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/conformance"
	"github.com/spokewire/spokewire/internal/starter"
)

const token = "the-token"

func verify(t *testing.T, o conformance.Options) []conformance.Result {
	t.Helper()
	o.Now = time.Now()
	results, err := conformance.Verify(t.Context(), conformance.NewHTTP(20*time.Second), o)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// failing are the checks that fail.
func failing(results []conformance.Result) []string {
	var names []string
	for _, r := range results {
		if !r.OK {
			names = append(names, r.Check)
		}
	}
	return names
}

var everyCheck = []string{
	"healthz", "config", "config fields", "scores", "empty data", "null data", "unknown metrics", "no numbers",
	"large input", "malformed JSON", "wrong token", "no token", "healthy afterwards",
}

// TestStarters: what `scorer init` writes conforms, run as its README says.
func TestStarters(t *testing.T) {
	t.Parallel()
	for language, lines := range map[string][]string{
		starter.Go:     {"go build -o service .", "exec ./service --listen 127.0.0.1:0 --token-file token"},
		starter.Python: {"true", "exec python3 server.py --listen 127.0.0.1:0 --token-file token"},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files, err := starter.Files(language, "under-test")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := starter.Write(dir, files); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			build := command(t, dir, lines[0])
			if output, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			url := start(t, command(t, dir, lines[1]))
			results := verify(t, conformance.Options{URL: url, Token: token})
			var checks []string
			for _, r := range results {
				checks = append(checks, r.Check)
				if !r.OK {
					t.Errorf("%s: %s", r.Check, r.Detail)
				}
			}
			if !slices.Equal(checks, everyCheck) {
				t.Errorf("checked %v, want %v", checks, everyCheck)
			}
			if at := slices.Index(checks, "scores"); results[at].Detail != "3 scores" {
				t.Errorf("scores: %s", results[at].Detail)
			}
			if got := failing(verify(t, conformance.Options{URL: url})); !slices.Contains(got, "scores") {
				t.Errorf("without the token, what fails is %v", got)
			}
		})
	}
}

func command(t *testing.T, dir, line string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", line)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off", "PYTHONDONTWRITEBYTECODE=1")
	return c
}

// start returns the URL that the service says it is ready at.
func start(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !found {
		t.Fatalf("it says %q, %v", line, err)
	}
	return url
}

const goodConfig = `{"name":"n","description":"d","source":{"type":"Prometheus","host":"http://p","path":"/api/v1/query_range",` +
	`"params":{"query":"up","range":600,"step":60}},"scoring":{"path":"/scoring","params":{"name":"s","interval":30}}}`

const staticConfig = `{"name":"n","source":{"type":"None"},"scoring":{"path":"/scoring","params":{"name":"s","interval":30}}}`

// service is one that conforms, but for what a test changes.
type service struct {
	config  string
	healthz http.HandlerFunc
	// scores answers requests that have the token and are JSON.
	scores func(w http.ResponseWriter, data []json.RawMessage)
	// allow says whether the token is right.
	allow func(header string) bool
	// malformed answers what is not JSON.
	malformed http.HandlerFunc
}

func good() *service {
	return &service{
		config:  goodConfig,
		healthz: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") },
		scores: func(w http.ResponseWriter, data []json.RawMessage) {
			results := make([]map[string]any, len(data))
			for i := range data {
				results[i] = map[string]any{"metric": map[string]string{"i": fmt.Sprint(i)}, "score": 1.5}
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"results": results})
		},
		allow:     func(header string) bool { return header == "Bearer "+token },
		malformed: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
	}
}

func (s *service) start(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { s.healthz(w, r) })
	mux.HandleFunc("GET /config", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s.config) })
	mux.HandleFunc("POST /scoring", func(w http.ResponseWriter, r *http.Request) {
		if !s.allow(r.Header.Get("Authorization")) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var in struct{ Data []json.RawMessage }
		if text, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(text, &in) != nil {
			s.malformed(w, r)
			return
		}
		s.scores(w, in.Data)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// answers is a service that answers every request for scores by a text.
func answers(text string) func(*service) {
	return func(s *service) {
		s.scores = func(w http.ResponseWriter, _ []json.RawMessage) { fmt.Fprint(w, text) }
	}
}

var everyScore = []string{"scores", "empty data", "null data", "unknown metrics", "no numbers", "large input"}

// TestBrokenServices: each fails the checks that it should, and no others.
func TestBrokenServices(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil  func(*service)
		want   []string
		detail string // of the first of them
	}{
		"none is":         {func(*service) {}, nil, ""},
		"a static one is": {func(s *service) { s.config = staticConfig; answers(`{"results":[{"metric":{},"score":1}]}`)(s) }, nil, ""},
		"a static one without scores": {
			func(s *service) { s.config = staticConfig; answers(`{"results":[]}`)(s) },
			[]string{"scores"}, "it gives no score",
		},
		"unwell": {
			func(s *service) {
				s.healthz = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
			},
			[]string{"healthz", "healthy afterwards"}, "/healthz answers 503, want 200",
		},
		"moved": {
			func(s *service) { s.healthz = http.RedirectHandler("/config", http.StatusFound).ServeHTTP },
			[]string{"healthz", "healthy afterwards"}, `/healthz answers 302 ("<a href=\"/config\">Found</a>.\n\n"), want 200`,
		},
		"config is HTML": {
			func(s *service) { s.config = "<html>" },
			[]string{"config fields"}, `it is not JSON: invalid character '<' looking for beginning of value ("<html>")`,
		},
		"config is empty": {func(s *service) { s.config = "" }, []string{"config"}, "/config answers nothing"},
		"interval is a text": {
			func(s *service) { s.config = strings.Replace(goodConfig, "30", `"30s"`, 1) },
			[]string{"config fields"}, "scoring.params.interval is a JSON string, want int",
		},
		"no score name": {
			func(s *service) { s.config = strings.Replace(goodConfig, `"name":"s"`, `"name":""`, 1) },
			[]string{"config fields"}, "scoring.params.name is missing: it is the name of the score",
		},
		"no path": {
			func(s *service) { s.config = strings.Replace(goodConfig, "/scoring", "scoring", 1) },
			[]string{"config fields"}, `scoring.path is "scoring", want a path such as /scoring`,
		},
		"no query": {
			func(s *service) { s.config = strings.Replace(goodConfig, `"up"`, `""`, 1) },
			[]string{"config fields"}, "source.params.query is missing",
		},
		"another source": {
			func(s *service) { s.config = strings.Replace(goodConfig, "Prometheus", "prometheus", 1) },
			[]string{"config fields"}, `source.type is "prometheus", want Prometheus or None`,
		},
		"too many points": {
			func(s *service) { s.config = strings.Replace(goodConfig, "600", "6000000", 1) },
			[]string{"config fields"}, "source.params.range of 6000000 s by steps of 60 s is more than the 11000 points that Prometheus gives",
		},
		"scores are text": {
			func(s *service) {
				s.scores = func(w http.ResponseWriter, data []json.RawMessage) {
					if len(data) > 0 {
						fmt.Fprint(w, `{"results":[{"metric":{},"score":"1"}]}`)
						return
					}
					fmt.Fprint(w, `{"results":[]}`)
				}
			},
			[]string{"scores", "unknown metrics", "no numbers", "large input"},
			`results[0] is ("{\"metric\":{},\"score\":\"1\"}"), want {"metric":{"label":"text"},"score":1.0}: json: cannot unmarshal string`,
		},
		"scores are NaN":  {answers(`{"results":[{"metric":{},"score":NaN}]}`), everyScore, "it answers what is not JSON: invalid character 'N'"},
		"scores are null": {answers(`{"results":[{"metric":{},"score":null}]}`), everyScore, "results[0].score is missing: leave a result without a number out"},
		"a score is huge": {answers(`{"results":[{"metric":{},"score":1e999}]}`), everyScore, `results[0] is ("{\"metric\":{},\"score\":1e999}"), want`},
		"labels are numbers": {
			answers(`{"results":[{"metric":{"gpu":0},"score":1}]}`), everyScore, `results[0] is ("{\"metric\":{\"gpu\":0},\"score\":1}"), want`,
		},
		"HTML with 200":        {answers("<html>"), everyScore, `it answers what is not JSON: invalid character '<' looking for beginning of value ("<html>")`},
		"nothing with 200":     {answers(""), everyScore, "it answers nothing"},
		"a list":               {answers("[]"), everyScore, `it answers ("[]"), want {"results":[]}`},
		"no results":           {answers(`{"scores":[]}`), everyScore, `it answers ("{\"scores\":[]}"), without results`},
		"far too many results": {answers(`{"results":[` + strings.Repeat("1,", 20_000) + "1]}"), everyScore, "it answers 20001 results, at most 10000 are taken"},
		"an answer too large":  {answers(strings.Repeat(" ", 5<<20)), everyScore, "the answer is larger than 4194304 bytes"},
		"null is an error": {
			func(s *service) {
				whole := s.scores
				s.scores = func(w http.ResponseWriter, data []json.RawMessage) {
					if data == nil {
						http.Error(w, "data is required", http.StatusUnprocessableEntity)
						return
					}
					whole(w, data)
				}
			},
			[]string{"null data"}, `it answers 422 ("data is required\n"), want 200`,
		},
		"takes no large input": {
			func(s *service) {
				whole := s.scores
				s.scores = func(w http.ResponseWriter, data []json.RawMessage) {
					if len(data) > 100 {
						w.WriteHeader(http.StatusRequestEntityTooLarge)
						return
					}
					whole(w, data)
				}
			},
			[]string{"large input"}, "it answers 413, want 200",
		},
		"fails on what is malformed": {
			func(s *service) {
				s.malformed = func(w http.ResponseWriter, _ *http.Request) {
					http.Error(w, "Traceback", http.StatusInternalServerError)
				}
			},
			[]string{"malformed JSON"}, `it answers 500 ("Traceback\n"), want 400 or 422`,
		},
		"scores what is malformed": {
			func(s *service) {
				s.malformed = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"results":[]}`) }
			},
			[]string{"malformed JSON"}, `it answers 200 ("{\"results\":[]}"), want 400 or 422`,
		},
		"takes any token": {func(s *service) { s.allow = func(h string) bool { return h != "" } }, []string{"wrong token"}, "it answers 200"},
		"takes no token":  {func(s *service) { s.allow = func(h string) bool { return h == "" } }, append(slices.Clone(everyScore), "malformed JSON", "no token"), "it answers 401, want 200"},
		"wants none":      {func(s *service) { s.allow = func(string) bool { return true } }, []string{"wrong token", "no token"}, "it answers 200"},
		"dies of bad input": {
			func(s *service) {
				dead := false
				s.malformed = func(http.ResponseWriter, *http.Request) {
					dead = true
					panic(http.ErrAbortHandler)
				}
				s.healthz = func(http.ResponseWriter, *http.Request) {
					if dead {
						panic(http.ErrAbortHandler)
					}
				}
			},
			[]string{"malformed JSON", "healthy afterwards"}, "no answer: EOF",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := good()
			test.spoil(s)
			results := verify(t, conformance.Options{URL: s.start(t), Token: token})
			if got := failing(results); !slices.Equal(got, test.want) {
				t.Fatalf("what fails is %v, want %v", got, test.want)
			}
			for _, r := range results {
				if !r.OK {
					if !strings.HasPrefix(r.Detail, test.detail) {
						t.Errorf("%s: %s, want %s", r.Check, r.Detail, test.detail)
					}
					break
				}
			}
			for _, r := range results {
				if strings.Contains(r.Detail, token) {
					t.Errorf("%s tells the token: %s", r.Check, r.Detail)
				}
			}
		})
	}
}

func TestDataOfOnesOwn(t *testing.T) {
	t.Parallel()
	s := good()
	whole := s.scores
	s.scores = func(w http.ResponseWriter, data []json.RawMessage) {
		if len(data) == 1 { // it knows nothing but this
			whole(w, nil)
			return
		}
		whole(w, data)
	}
	url := s.start(t)
	one := []byte(`{"data":[{"metric":{},"values":[[1,"1"]]}]}`)
	if got := failing(verify(t, conformance.Options{URL: url, Token: token, Data: one})); !slices.Equal(got, []string{"scores"}) {
		t.Errorf("what fails is %v", got)
	}
	two := []byte(`{"data":[{"metric":{},"values":[[1,"1"]]},{"metric":{},"values":[[1,"1"]]}]}`)
	if got := failing(verify(t, conformance.Options{URL: url, Token: token, Data: two})); got != nil {
		t.Errorf("what fails is %v", got)
	}
}

// slow takes a minute for much.
type slow struct{ conformance.Caller }

func (s slow) Call(ctx context.Context, r conformance.Request) (conformance.Response, error) {
	answer, err := s.Caller.Call(ctx, r)
	if len(r.Body) > 1<<20 {
		answer.Took = time.Minute
	}
	return answer, err
}

func TestSlowerThanItsInterval(t *testing.T) {
	t.Parallel()
	caller := slow{conformance.NewHTTP(20 * time.Second)}
	results, err := conformance.Verify(t.Context(), caller, conformance.Options{URL: good().start(t), Token: token})
	if err != nil || !slices.Equal(failing(results), []string{"large input"}) {
		t.Fatalf("%+v, %v", results, err)
	}
	if at := slices.IndexFunc(results, func(r conformance.Result) bool { return !r.OK }); results[at].Detail != "it answers within 1m0s, but is asked every 30s" {
		t.Error(results[at].Detail)
	}
}

func TestConfigElsewhere(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /power/config", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Replace(staticConfig, `"path":"`, `"host":"http://elsewhere:1","path":"/power`, 1))
	})
	mux.HandleFunc("POST /power/scoring", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"results":[{"score":-200}]}`) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	results := verify(t, conformance.Options{URL: server.URL + "/power/config"})
	if got := failing(results); got != nil {
		t.Fatalf("what fails is %v", got)
	}
	for at, want := range map[int]string{
		2: "score s every 30 s, source None; scores are asked at http://elsewhere:1, and here at " + server.Listener.Addr().String(),
		3: "1 scores; -200 is outside of -100 to 100, and is clamped",
	} {
		if results[at].Detail != want {
			t.Errorf("%s: %s, want %s", results[at].Check, results[at].Detail, want)
		}
	}
}

func TestSilentAndAbsentServices(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released }))
	t.Cleanup(func() { close(released); silent.Close() })
	results, err := conformance.Verify(t.Context(), conformance.NewHTTP(50*time.Millisecond), conformance.Options{URL: silent.URL})
	if err != nil || len(results) != 3 || results[0].Detail != "/healthz: no whole answer within 50ms" {
		t.Errorf("%+v, %v", results, err)
	}
	results = verify(t, conformance.Options{URL: "http://127.0.0.1:1"})
	if got := failing(results); !slices.Equal(got, []string{"healthz", "config", "healthy afterwards"}) || !strings.Contains(results[0].Detail, "refused") {
		t.Errorf("%+v", results)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := conformance.Verify(ctx, conformance.NewHTTP(time.Second), conformance.Options{URL: silent.URL}); err == nil {
		t.Error("it says nothing of having been stopped")
	}
}

func TestBadURLs(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "127.0.0.1:8000", "ftp://a", "http://", "http://user:secret@a", "http://a?x=1", "http://a#b"} {
		_, err := conformance.Verify(t.Context(), nil, conformance.Options{URL: url})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
