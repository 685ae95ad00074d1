package config

import (
	"os"
	"regexp"
	"testing"
)

// The examples that users copy are valid.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/collector.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	if len(examples) == 0 {
		t.Fatal("docs/collector.md has no example")
	}
	for _, example := range examples {
		if _, err := parseAndValidate(example[1]); err != nil {
			t.Errorf("%v in:\n%s", err, example[1])
		}
	}
}
