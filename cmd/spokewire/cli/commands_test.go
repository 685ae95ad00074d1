package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryCommandHasAScript looks for each command in the scripts. Those
// that need processes of their own (up, demo, run SERVICE, and the subjects
// of bench but decide) are there with what they refuse; test/e2e runs the
// stack and the tour, and internal/bench the subjects.
func TestEveryCommandHasAScript(t *testing.T) {
	t.Parallel()
	scripts := commandLines(t)
	for _, path := range commandPaths(New()) {
		if !regexp.MustCompile(`(?m)^(! )?exec ` + regexp.QuoteMeta(path) + `( |$)`).MatchString(scripts) {
			t.Errorf("no script in testdata has %s: write one", path)
		}
	}
}

// commandLines is the text of all scripts, without the files that they hold.
func commandLines(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.txtar"))
	if err != nil || len(files) < 10 {
		t.Fatalf("found the scripts %v, %v: have they moved?", files, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines, _, _ := strings.Cut(string(text), "\n-- ")
		all.WriteString(lines + "\n")
	}
	return all.String()
}

// commandPaths lists the command and all below it that users see.
func commandPaths(c *cobra.Command) []string {
	paths := []string{c.CommandPath()}
	for _, child := range c.Commands() {
		if !child.Hidden {
			paths = append(paths, commandPaths(child)...)
		}
	}
	return paths
}
