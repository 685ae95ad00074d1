package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDocumentedExamples runs every block of docs/cli.md that is marked
// "console run", in order, in one directory that holds the blocks marked
// "file=NAME", and compares what is shown with what is printed.
func TestDocumentedExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	script, examples := exampleScript(string(text))
	if examples < 15 {
		t.Fatalf("found %d examples to run: has their mark changed?", examples)
	}
	file := filepath.Join(t.TempDir(), "cli.txtar")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	runScript(t, file)
}

// TestEveryServiceIsDocumented: docs/cli.md names all that run can run.
func TestEveryServiceIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, about, _ := strings.Cut(string(text), "\n`run SERVICE`")
	about, _, _ = strings.Cut(about, "\n\n")
	for _, c := range newRun().Commands() {
		if !c.Hidden && !strings.Contains(about, "`"+c.Name()+"`") {
			t.Errorf("docs/cli.md: the paragraph on run does not name %s", c.Name())
		}
	}
}

// exampleScript turns a document into a testscript.
func exampleScript(text string) (script string, examples int) {
	var steps, files strings.Builder
	steps.WriteString("fleet\nbridge Applied\n")
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+) (run|file=(\\S+))\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		if m[3] != "" {
			fmt.Fprintf(&files, "-- %s --\n%s", m[3], m[4])
			continue
		}
		for _, example := range strings.Split("\n"+m[4], "\n$ ")[1:] {
			examples++
			command, shown, _ := strings.Cut(strings.TrimSuffix(example, "\n"), "\n")
			fmt.Fprintf(&steps, "exec sh %d.sh\nshows %d.txt\n", examples, examples)
			// One stream, as a reader sees it.
			fmt.Fprintf(&files, "-- %d.sh --\nexec 2>&1\n%s\n-- %d.txt --\n%s\n", examples, command, examples, shown)
		}
	}
	return steps.String() + files.String(), examples
}

// shows compares the last command's output with a file, in which … stands
// for anything within a line and any space for any other.
func shows(ts *testscript.TestScript, _ bool, args []string) {
	got, want := ts.ReadFile("stdout"), ts.ReadFile(args[0])
	if !regexp.MustCompile(shownPattern(want)).MatchString(strings.TrimSpace(got)) {
		ts.Fatalf("the document shows\n%s\nbut this is printed:\n%s", want, got)
	}
}

func shownPattern(shown string) string {
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(shown), "\n") {
		parts := strings.Split(line, "…")
		for i, part := range parts {
			words := strings.Fields(part)
			for j, word := range words {
				words[j] = regexp.QuoteMeta(word)
			}
			parts[i] = `[ ]*` + strings.Join(words, `[ ]+`) + `[ ]*`
		}
		lines = append(lines, strings.Join(parts, `.*`))
	}
	return `\A` + strings.Join(lines, `\n`) + `\z`
}

func TestShownPattern(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		shown, printed string
		want           bool
	}{
		"equal":           {"a b", "a b", true},
		"other spaces":    {"a b", "a    b", true},
		"anything":        {"a … b", "a 12 13 b", true},
		"nothing":         {"a … b", "a b", true},
		"another word":    {"a b", "a c", false},
		"another line":    {"a …", "a\nb", false},
		"a line too few":  {"a\nb", "a", false},
		"quoted":          {"a(b)", "a(b)", true},
		"as it is":        {"a.b", "axb", false},
		"empty, nonempty": {"", "a", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := regexp.MustCompile(shownPattern(tt.shown)).MatchString(tt.printed); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
