package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent connects the SDK's own client to a server of ours.
func agent(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (string, bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text, _ := r.Content[0].(*mcp.TextContent)
	return text.Text, r.IsError
}

func tools(t *testing.T, s *mcp.ClientSession) []string {
	t.Helper()
	found, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range found.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

func TestAnAgentReads(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	sow(t, s.bus, filepath.Join("testdata", "fleet.jsonl"), func(seed) {})
	a := &app{timeout: 10 * time.Second, output: outputTable}
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return a.mcpServer(s.bus, false) }, nil))
	t.Cleanup(server.Close)
	ours, theirs := mcp.NewInMemoryTransports()
	go func() { _ = a.mcpServer(s.bus, false).Run(t.Context(), ours) }()
	program := exec.CommandContext(t.Context(), "spokewire", "mcp") // testscript put it on the path
	program.Env = append(os.Environ(), "NATS_URL="+s.url)
	for name, transport := range map[string]mcp.Transport{
		"pipe": theirs, "standard input and output": &mcp.CommandTransport{Command: program},
		"HTTP": &mcp.StreamableClientTransport{Endpoint: server.URL},
	} {
		session := agent(t, transport)
		if got := tools(t, session); !slices.Equal(got, []string{"clusters", "decisions", "explain", "replay", "scores", "what_if"}) {
			t.Errorf("%s: tools are %v", name, got)
		}
		for tool, want := range map[string]string{"clusters": `"spoke-1"`, "scores": `"gpu"`, "decisions": `"ScoreChanged"`} {
			if text, failed := call(t, session, tool, nil); failed || !strings.Contains(text, want) {
				t.Errorf("%s: %s answers %s", name, tool, text)
			}
		}
		for _, tool := range []string{"explain", "what_if", "replay"} {
			arguments := map[string]any{"placement": "default/train"}
			if tool == "explain" {
				arguments["cluster"] = "spoke-1"
			}
			if text, failed := call(t, session, tool, arguments); !failed || !strings.Contains(text, "is the service inquiry running?") {
				t.Errorf("%s: %s answers %s, though nobody is there to ask", name, tool, text)
			}
		}
		if text, failed := call(t, session, "what_if", map[string]any{"placement": "default/train", "add": []string{"/etc/passwd"}}); !failed || !strings.Contains(text, "want NAME") {
			t.Errorf("%s: an agent reads files: %s", name, text)
		}
	}
}

func TestAnAgentWritesOnlyIfItMay(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	a := &app{timeout: 10 * time.Second, output: outputTable}
	ours, theirs := mcp.NewInMemoryTransports()
	go func() { _ = a.mcpServer(s.bus, true).Run(t.Context(), ours) }()
	session := agent(t, theirs)
	text, failed := call(t, session, "apply", map[string]any{"manifest": "apiVersion: spokewire.dev/v1alpha1\nkind: Scorer\nmetadata: {name: gpu}\nspec: {cel: metric(\"gpu_free\")}\n"})
	if failed || !strings.Contains(text, "Scorer gpu") {
		t.Errorf("apply answers %s", text)
	}
	if got := tools(t, session); !slices.Contains(got, "cordon") || !slices.Contains(got, "rebalance") {
		t.Errorf("tools are %v", got)
	}
	sow(t, s.bus, filepath.Join("testdata", "fleet.jsonl"), func(seed) {})
	for _, tc := range []struct {
		cluster, state, want string
		failed               bool
	}{
		{"spoke-1", "draining", `"sequence":`, false},
		{"spoke-1", "open", "spec.state is \"open\"", true},
		{"nowhere", "cordoned", "is not among the clusters", true},
		{"spoke-1", "lifted", `"was":"draining"`, false},
	} {
		text, failed := call(t, session, "cordon", map[string]any{"cluster": tc.cluster, "state": tc.state})
		if failed != tc.failed || !strings.Contains(text, tc.want) {
			t.Errorf("cordon %s %s answers %s", tc.cluster, tc.state, text)
		}
	}
	if text, failed := call(t, session, "rebalance", map[string]any{"placement": "default/serve"}); !failed || !strings.Contains(text, "is native") {
		t.Errorf("rebalance answers %s", text)
	}
	if text, failed := call(t, session, "apply", map[string]any{"manifest": "kind: Pod"}); !failed {
		t.Errorf("a Pod is applied: %s", text)
	}
}

func TestLoopbackOnly(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"": true, "127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true,
		":1": false, "0.0.0.0:1": false, "10.0.0.1:1": false, "example.org:1": false, "127.0.0.1": false,
	} {
		if err := checkLoopback(address); (err == nil) != want {
			t.Errorf("%q: %v", address, err)
		}
	}
}
