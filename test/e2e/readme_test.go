package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/stack"
)

// block is a fenced block of the README.
var block = regexp.MustCompile("(?s)\n```([a-z]*)\n(.*?)```\n")

// TestTheReadmesHowTosWorkAsWritten runs the README's commands in a shell,
// word for word, against a stack.
func TestTheReadmesHowTosWorkAsWritten(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, howTos, found := strings.Cut(string(text), "## Publish your own metric")
	if !found {
		t.Fatal("the README has no section \"Publish your own metric\"")
	}
	s := startStack(t, func(o *stack.Options) { o.Spokes = 3 })
	dir := t.TempDir()
	shell := readmeShell(t, s, dir)

	shown := map[string]string{} // by the command, as far as its flags
	for _, b := range block.FindAllStringSubmatch(howTos, -1) {
		switch b[1] {
		case "yaml":
			if err := os.WriteFile(filepath.Join(dir, "cheap.yaml"), []byte(b[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		case "python": // run by sdk/python/tests/test_docs.py
			continue
		}
		lines := strings.ReplaceAll(b[2], "\\\n", " ")
		for line := range strings.Lines(lines) {
			if follows(line) && line != lines {
				t.Errorf("%q follows for ever, but stands in one block with others:\n%s", line, lines)
			}
			shown[commandOf(line)] += shell(line)
		}
	}
	// 3.5 of 10 leaves 65 points for spoke-1.
	for command, want := range map[string]string{
		"spokewire publish":           "stored as",
		"nats pub":                    "Published",
		"spokewire apply":             "Placement default/train: Applied",
		"spokewire explain placement": "spoke-1=65",
		"spokewire watch decisions":   "spoke-1=65",
		"nats sub":                    `"clusters":[{"name":"spoke-1","score":65`,
	} {
		if !strings.Contains(shown[command], want) {
			t.Errorf("the README's %s prints\n%s\nwant %q in it", command, shown[command], want)
		}
	}
}

// commandOf is the command of a line, without its arguments.
func commandOf(line string) string {
	return regexp.MustCompile(`^(spokewire explain placement|spokewire watch decisions|\S+ [a-z]+)`).FindString(line)
}

// follows reports whether a line runs until Ctrl-C.
func follows(line string) bool {
	return strings.Contains(line, " watch ") || strings.Contains(line, " sub ")
}

// readmeShell returns a function that runs a line in a shell that has
// spokewire and nats on its path. A command that follows for ever is ended
// after a while.
func readmeShell(t *testing.T, s *stack.Stack, dir string) func(line string) string {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(executable, filepath.Join(dir, "spokewire")); err != nil {
		t.Fatal(err)
	}
	url, err := s.OperatorURL()
	if err != nil {
		t.Fatal(err)
	}
	return func(line string) string {
		command := line
		if follows(line) {
			command = "timeout 5 " + line
		}
		c := exec.CommandContext(t.Context(), "bash", "-c", command)
		c.Dir = dir
		c.Env = append(os.Environ(), "NATS_URL="+url, "PATH="+dir+":"+hubtest.BinDir()+":"+os.Getenv("PATH"))
		text, err := c.CombinedOutput()
		t.Logf("$ %s%s", line, text)
		var exit *exec.ExitError
		ended := follows(line) && errors.As(err, &exit) && exit.ExitCode() == 124
		if err != nil && !ended {
			t.Errorf("%s: %v\n%s", line, err, text)
		}
		return string(text)
	}
}
