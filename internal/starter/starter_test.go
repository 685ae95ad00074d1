package starter_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/internal/starter"
)

// write makes a service called pick-me and returns where.
func write(t *testing.T, language string) string {
	t.Helper()
	files, err := starter.Files(language, "pick-me")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new", "service")
	if _, err := starter.Write(dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

// commands are those that the README of each language gives.
var commands = map[string][]string{
	starter.Go:     {"go vet ./...", "go test ./...", "go build -o service ."},
	starter.Python: {"python3 -W error -m unittest", "python3 -W error -m py_compile server.py"},
}

// TestWhatIsWrittenWorks builds and tests each service as somebody does who
// has just written it.
func TestWhatIsWrittenWorks(t *testing.T) {
	t.Parallel()
	for language, lines := range commands {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			dir := write(t, language)
			for _, line := range lines {
				c := exec.CommandContext(t.Context(), "sh", "-c", line)
				c.Dir = dir
				c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
				if output, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", line, err, output)
				}
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, language := range starter.Languages() {
		files, err := starter.Files(language, "pick-me")
		if err != nil {
			t.Fatal(err)
		}
		for file, text := range files {
			if strings.Contains(string(text), "headroom") {
				t.Errorf("%s of %s has the name of the original", file, language)
			}
		}
		for _, file := range []string{"README.md", "Dockerfile", "config.json", "dynamicscorer.yaml"} {
			if len(files[file]) == 0 {
				t.Errorf("%s has no %s", language, file)
			}
		}
		if !strings.Contains(string(files["config.json"]), `"name": "pick-me"`) {
			t.Errorf("config.json of %s is %s", language, files["config.json"])
		}
	}
}

// TestReadmeNamesEveryFile but those that speak for themselves.
func TestReadmeNamesEveryFile(t *testing.T) {
	t.Parallel()
	for _, language := range starter.Languages() {
		files, err := starter.Files(language, "x")
		if err != nil {
			t.Fatal(err)
		}
		readme := string(files["README.md"])
		for file := range files {
			switch {
			case file == "README.md", file == "Dockerfile", file == "go.mod", strings.Contains(file, "test"):
			case !strings.Contains(readme, "`"+file+"`"):
				t.Errorf("the README of %s does not name %s", language, file)
			}
		}
		for lines := bufio.NewScanner(strings.NewReader(string(files["Dockerfile"]))); lines.Scan(); {
			for _, word := range strings.Fields(lines.Text()) {
				if _, known := files[word]; strings.HasPrefix(lines.Text(), "COPY ") && strings.Contains(word, ".") && len(word) > 2 && !known && !strings.HasPrefix(word, "-") {
					t.Errorf("the Dockerfile of %s copies %s, which is not there", language, word)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": "the name", "Upper": "the name", "a.b": "the name", "-a": "the name", strings.Repeat("a", 64): "the name"} {
		if _, err := starter.Files(starter.Go, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := starter.Files("rust", "x"); err == nil || !strings.Contains(err.Error(), `the language is "rust", want go or python`) {
		t.Error(err)
	}
	files := map[string][]byte{"a": []byte("new")}
	full := t.TempDir()
	mine := filepath.Join(full, "a")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := starter.Write(full, files); err == nil || !strings.Contains(err.Error(), "is not empty: it holds a") {
		t.Error(err)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("a is %q, %v", text, err)
	}
	if _, err := starter.Write(mine, files); err == nil {
		t.Error("a file is taken for a directory")
	}
	if _, err := starter.Write(t.TempDir(), files); err != nil {
		t.Errorf("an empty directory: %v", err)
	}
}
