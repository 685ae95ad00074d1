package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/conformance"
	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/internal/testwait"
)

// fakeModel is a language model's server in the test's hands.
type fakeModel struct {
	*httptest.Server
	mu      sync.Mutex
	handle  http.HandlerFunc
	asked   []string // bodies
	headers []http.Header
}

func serveModel(t *testing.T) *fakeModel {
	t.Helper()
	m := &fakeModel{handle: says(`{"score":40,"reason":"half of the GPUs are free"}`)}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		handle := m.handle
		m.asked, m.headers = append(m.asked, r.URL.Path+" "+string(body)), append(m.headers, r.Header)
		m.mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *fakeModel) set(handle http.HandlerFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handle = handle
}

func (m *fakeModel) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// says answers with a completion.
func says(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		text, _ := json.Marshal(content)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":%s}}]}`, text)
	}
}

// start runs the service with more of a configuration, and returns its URL.
func start(t *testing.T, m *fakeModel, more string) (url string, stop func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "llm.yaml")
	text := fmt.Sprintf(`
listen: 127.0.0.1:0
model: {url: %q, name: tiny, timeoutSeconds: 1}
scorers:
  - name: gpu_health
    prometheus: http://prometheus.monitoring.svc:9090
    queries: [gpu_free, rate(gpu_errors_total)]
    rubric: Free GPUs are good, errors are bad.
%s`, m.URL+"/v1/", more)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{ConfigFile: file, Ready: func(a string) { ready <- a }}, processtest.Runtime(t))
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended
	})
	t.Cleanup(stop)
	select {
	case address := <-ready:
		return "http://" + address, stop
	case err := <-ended:
		ended <- err
		t.Fatal(err)
		return "", stop
	}
}

// post asks for the score of a cluster with so many free GPUs.
func post(t *testing.T, url, free string, header ...string) (int, string) {
	t.Helper()
	body := fmt.Sprintf(`{"data":[{"metric":{"__name__":"gpu_free"},"values":[[1764590400,%q]]}]}`, free)
	return call(t, http.MethodPost, url+"/scorers/gpu_health/score", body, header...)
}

func call(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(text))
}

// TestItSpeaksTheScoringAPI by what `spokewire scorer verify` checks.
func TestItSpeaksTheScoringAPI(t *testing.T) {
	t.Parallel()
	url, _ := start(t, serveModel(t), "")
	results, err := conformance.Verify(t.Context(), conformance.NewHTTP(10*time.Second), conformance.Options{URL: url + "/scorers/gpu_health/config", Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.OK {
			t.Errorf("%+v", r)
		}
	}
}

// TestAQuestionIsAskedOnce, also after a restart, and its record can be read.
func TestAQuestionIsAskedOnce(t *testing.T) {
	t.Parallel()
	m, dir := serveModel(t), t.TempDir()
	more := "records: {dir: " + dir + ", max: 2}\n"
	url, stop := start(t, m, more)
	code, text := post(t, url, "4")
	if want := `{"results":[{"metric":{"reason":"half of the GPUs are free","record":"`; code != http.StatusOK || !strings.HasPrefix(text, want) || !strings.HasSuffix(text, `"score":40}]}`) {
		t.Fatalf("the answer is %d %s", code, text)
	}
	if !strings.HasPrefix(m.asked[0], "/v1/chat/completions {") || !strings.Contains(m.asked[0], "gpu_free 4") {
		t.Errorf("asked is %s", m.asked[0])
	}
	post(t, url, "4.001")
	stop()
	m.set(says("prose"))
	url, _ = start(t, m, more)
	if code, again := post(t, url, "4"); code != http.StatusOK || again != text || m.count() != 1 {
		t.Errorf("the second answer is %d %s, asked %d times", code, again, m.count())
	}
	_, digest, _ := strings.Cut(text, `"record":"`)
	digest, _, _ = strings.Cut(digest, `"`)
	code, record := call(t, http.MethodGet, url+"/records/"+digest, "")
	if code != http.StatusOK || !strings.Contains(record, `"scorer":"gpu_health"`) || !strings.Contains(record, "Free GPUs are good") || !strings.Contains(record, "half of the GPUs") {
		t.Errorf("the record is %d %s", code, record)
	}
	// Of more records than are kept the one that was not used for longest goes.
	m.set(says(`{"score":1,"reason":"x"}`))
	post(t, url, "5")
	post(t, url, "6")
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("%d records are kept (%v), want 2", len(files), err)
	}
	if code, _ := call(t, http.MethodGet, url+"/records/"+digest, ""); code != http.StatusNotFound {
		t.Errorf("a record that is gone is answered by %d", code)
	}
	if code, _ := call(t, http.MethodGet, url+"/records/..%2F..%2Fetc", ""); code != http.StatusNotFound {
		t.Errorf("a path is answered by %d", code)
	}
}

// TestAModelThatMisbehaves: there is a reason, and never a number.
func TestAModelThatMisbehaves(t *testing.T) {
	t.Parallel()
	m := serveModel(t)
	url, _ := start(t, m, "")
	for name, tt := range map[string]struct {
		handle http.HandlerFunc
		code   int
		want   string
	}{
		"slow": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 502, "Timeout: "},
		"500": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"message":"CUDA out of memory"}}`, http.StatusInternalServerError)
		}, 502, "CUDA out of memory"},
		"401": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who?", http.StatusUnauthorized) }, 502, "BadStatus: the model answered 401"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, 502, "302"},
		"half an answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"choices":[`)
		}, 502, "broke off after 12 bytes"},
		"a flood": {func(w http.ResponseWriter, _ *http.Request) {
			for range 300 {
				_, _ = w.Write(make([]byte, 1024))
			}
		}, 502, "TooLarge: "},
		"HTML":        {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, 502, "NotJSON: "},
		"prose":       {says("I would say 70."), 502, "NotJSON: "},
		"too good":    {says(`{"score":1000,"reason":"great"}`), 502, "NotANumber: "},
		"other shape": {says(`{"rating":70}`), 502, "NotJSON: "},
	} {
		m.set(tt.handle)
		if code, text := post(t, url, fmt.Sprint(len(name)*100+len(tt.want))); code != tt.code || !strings.Contains(text, tt.want) || strings.Contains(text, "results") {
			t.Errorf("%s: the answer is %d %s, want %d with %q", name, code, text, tt.code, tt.want)
		}
	}
	m.set(says(`{"score":40,"reason":"x"}`))
	if code, text := post(t, url, "1"); code != http.StatusOK {
		t.Errorf("afterwards the answer is %d %s", code, text)
	}
}

// TestAModelThatWantsToBeLeftAlone is left alone.
func TestAModelThatWantsToBeLeftAlone(t *testing.T) {
	t.Parallel()
	m := serveModel(t)
	url, _ := start(t, m, "")
	m.set(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "slow down", http.StatusTooManyRequests)
	})
	for _, want := range []string{"RateLimited: the model answered 429", "RateLimited: the model asked to be left alone"} {
		if code, text := post(t, url, "1"); code != http.StatusTooManyRequests || !strings.Contains(text, want) {
			t.Errorf("the answer is %d %s, want %q", code, text, want)
		}
	}
	if n := m.count(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	m.set(says(`{"score":40,"reason":"x"}`))
	testwait.Eventually(t, "it is asked again", func() bool {
		code, _ := post(t, url, "1")
		return code == http.StatusOK
	})
}

func TestTheBudgetIsKept(t *testing.T) {
	t.Parallel()
	m := serveModel(t)
	url, _ := start(t, m, "budgetPerMinute: 3\n")
	var codes []int
	for i := range 5 {
		code, _ := post(t, url, fmt.Sprint(i))
		codes = append(codes, code)
	}
	if want := []int{200, 200, 200, 429, 429}; !slices.Equal(codes, want) || m.count() != 3 {
		t.Errorf("answered is %v, want %v; asked %d times", codes, want, m.count())
	}
	if _, text := post(t, url, "9"); !strings.HasPrefix(text, "BudgetExhausted: budgetPerMinute is spent, 3") {
		t.Errorf("it says %s", text)
	}
	if code, _ := post(t, url, "2"); code != http.StatusOK { // what is known costs nothing
		t.Errorf("a question that was answered is answered by %d", code)
	}
}

func TestClustersThatAreAlikeShareAnAnswer(t *testing.T) {
	t.Parallel()
	m := serveModel(t)
	url, _ := start(t, m, "")
	hold := make(chan struct{})
	m.set(func(w http.ResponseWriter, r *http.Request) {
		<-hold
		says(`{"score":40,"reason":"x"}`)(w, r)
	})
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if code, text := post(t, url, "4"); code != http.StatusOK {
				t.Errorf("the answer is %d %s", code, text)
			}
		})
	}
	testwait.Eventually(t, "one asks", func() bool { return m.count() == 1 })
	close(hold)
	all.Wait()
	if n := m.count(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"callers": "c\n", "model": "m\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := serveModel(t)
	url, _ := start(t, m, "tokenFile: "+filepath.Join(dir, "callers")+"\n")
	if code, _ := post(t, url, "1"); code != http.StatusUnauthorized {
		t.Errorf("without a token it is %d", code)
	}
	if code, _ := call(t, http.MethodGet, url+"/records/"+strings.Repeat("0", 32), ""); code != http.StatusUnauthorized {
		t.Errorf("records without a token: %d", code)
	}
	if code, _ := post(t, url, "1", "Authorization", "Bearer c"); code != http.StatusOK {
		t.Errorf("with the token it is %d", code)
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	url, _ := start(t, serveModel(t), "")
	for body, want := range map[string]struct {
		code int
		text string
	}{
		`{`:                           {400, "the request is not"},
		`{"data":null}`:               {200, `{"results":[]}`},
		`{"data":[{"values":[[1]]}]}`: {400, "the request is not"},
	} {
		if code, text := call(t, http.MethodPost, url+"/scorers/gpu_health/score", body); code != want.code || !strings.Contains(text, want.text) {
			t.Errorf("%s: the answer is %d %s", body, code, text)
		}
	}
	if code, _ := call(t, http.MethodPost, url+"/scorers/nothing/score", "{}"); code != http.StatusNotFound {
		t.Errorf("an unknown scorer is answered by %d", code)
	}
}
