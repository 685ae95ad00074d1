package e2e

import (
	"errors"
	"fmt"
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

	var shown strings.Builder
	for _, b := range block.FindAllStringSubmatch(howTos, -1) {
		if b[1] == "yaml" {
			if err := os.WriteFile(filepath.Join(dir, "cheap.yaml"), []byte(b[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		shown.WriteString(shell(strings.ReplaceAll(b[2], "\\\n", " ")))
	}
	t.Log(shown.String())
	for _, want := range []string{
		"stored as",                        // spokewire publish
		"Published",                        // nats pub
		"Placement default/train: Applied", // spokewire apply
		"spoke-1=65",                       // spokewire explain: 3.5 of 10 leaves 65
	} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("the README's commands do not print %q", want)
		}
	}
}

// readmeShell returns a function that runs lines in a shell that has
// spokewire and nats on its path. A command that follows for ever is ended
// after a while.
func readmeShell(t *testing.T, s *stack.Stack, dir string) func(lines string) string {
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
	return func(lines string) string {
		var out strings.Builder
		for line := range strings.Lines(lines) {
			follows := strings.Contains(line, " watch ") || strings.Contains(line, " sub ")
			command := line
			if follows {
				command = "timeout 3 " + line
			}
			c := exec.CommandContext(t.Context(), "bash", "-c", command)
			c.Dir = dir
			c.Env = append(os.Environ(), "NATS_URL="+url, "PATH="+dir+":"+hubtest.BinDir()+":"+os.Getenv("PATH"))
			text, err := c.CombinedOutput()
			fmt.Fprintf(&out, "$ %s%s", line, text)
			var exit *exec.ExitError
			ended := follows && errors.As(err, &exit) && exit.ExitCode() == 124
			if err != nil && !ended {
				t.Errorf("%s: %v\n%s", line, err, text)
			}
		}
		return out.String()
	}
}
