package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func startServer(t *testing.T, tokenFile string) *httptest.Server {
	t.Helper()
	handler, err := newHandler(tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// call returns the status and the body.
func call(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
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
	return answer.StatusCode, string(text)
}

func TestScoring(t *testing.T) {
	t.Parallel()
	url := startServer(t, "").URL + "/scoring"
	for name, test := range map[string]struct {
		body, want string
		status     int
	}{
		"one series":   {`{"data":[{"metric":{"node":"a"},"values":[[1,"0.25"],[2,"0.75"]]}]}`, `{"results":[{"metric":{"node":"a"},"score":50}]}`, 200},
		"numbers":      {`{"data":[{"metric":{},"values":[[1,0.25]]}]}`, `{"results":[{"metric":{},"score":75}]}`, 200},
		"no labels":    {`{"data":[{"values":[[1,"0"]]}]}`, `{"results":[{"metric":{},"score":100}]}`, 200},
		"no values":    {`{"data":[{"metric":{"node":"a"},"values":[]}]}`, `{"results":[]}`, 200},
		"not finite":   {`{"data":[{"metric":{},"values":[[1,"NaN"],[2,"+Inf"],[3,"0.5"]]}]}`, `{"results":[{"metric":{},"score":50}]}`, 200},
		"only NaN":     {`{"data":[{"metric":{},"values":[[1,"NaN"]]}]}`, `{"results":[]}`, 200},
		"empty":        {`{"data":[]}`, `{"results":[]}`, 200},
		"null":         {`{"data":null}`, `{"results":[]}`, 200},
		"no JSON":      {`{"data":`, "", 400},
		"other JSON":   {`[]`, "", 400},
		"not numbers":  {`{"data":[{"metric":{},"values":[["a","b"]]}]}`, "", 400},
		"no pairs":     {`{"data":[{"metric":{},"values":[[1]]}]}`, "", 400},
		"value null":   {`{"data":[{"metric":{},"values":[[1,null]]}]}`, "", 400},
		"far too much": {strings.Repeat(" ", maxBody+1), "", 413},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, text := call(t, http.MethodPost, url, "", test.body)
			if status != test.status || test.want != "" && text != test.want {
				t.Errorf("%d %s, want %d %s", status, text, test.status, test.want)
			}
			if status != 200 && !strings.HasPrefix(text, `{"error":"`) {
				t.Errorf("the error is %s", text)
			}
		})
	}
}

func TestConfigAndHealth(t *testing.T) {
	t.Parallel()
	url := startServer(t, "/no/token").URL
	if status, text := call(t, http.MethodGet, url+"/healthz", "", ""); status != 200 || text != `{"status":"ok"}` {
		t.Errorf("/healthz: %d %s", status, text)
	}
	status, text := call(t, http.MethodGet, url+"/config", "", "")
	var c struct {
		Name    string
		Scoring struct{ Params struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil || status != 200 || c.Name == "" || c.Scoring.Params.Name == "" {
		t.Errorf("/config: %d %s", status, text)
	}
	if status, _ := call(t, http.MethodGet, url+"/scoring", "", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("GET /scoring: %d", status)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	url := startServer(t, file).URL + "/scoring"
	try := func(token string, want int) {
		t.Helper()
		if status, text := call(t, http.MethodPost, url, token, `{"data":null}`); status != want {
			t.Errorf("with %q: %d %s, want %d", token, status, text, want)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	try("secret", 503) // no file: nobody gets in
	write("\n")
	try("", 401)
	write("secret\n")
	try("secret", 200)
	try("secre", 401)
	try("", 401)
	write("another\n") // as a Secret that rotates
	try("secret", 401)
	try("another", 200)
}
