package app_test

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/deploy/k8s"
	"github.com/spokewire/spokewire/services/hub-bridge/app"
)

func TestValidateNamesTheFlag(t *testing.T) {
	t.Parallel()
	for flag, change := range map[string]func(*app.Options){
		"--hub-qps":            func(o *app.Options) { o.QPS = 0 },
		"--hub-burst":          func(o *app.Options) { o.Burst = 0 },
		"--workers":            func(o *app.Options) { o.Workers = 0 },
		"--score-budget":       func(o *app.Options) { o.ScoreBudget = 0 },
		"--explanation-budget": func(o *app.Options) { o.ExplanationBudget = 0 },
		"--score-margin":       func(o *app.Options) { o.ScoreMargin = time.Second },
		"--namespace":          func(o *app.Options) { o.Namespace = "" },
		"--identity":           func(o *app.Options) { o.Identity = "" },
	} {
		o := app.DefaultOptions()
		o.Identity = "test"
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&o)
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), flag) {
			t.Errorf("%s: %v", flag, err)
		}
		if app.Command().Flags().Lookup(strings.TrimPrefix(flag, "--")) == nil {
			t.Errorf("the command has no %s", flag)
		}
	}
}

// Every shipped manifest is YAML of a kind, and grants no wildcard.
func TestManifests(t *testing.T) {
	t.Parallel()
	files, err := k8s.HubBridge()
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(files, "*.yaml")
	if err != nil || len(names) != 4 {
		t.Fatalf("files are %v (%v)", names, err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range strings.SplitSeq(string(data), "\n---\n") {
			var object struct {
				APIVersion, Kind string
				Rules            []struct{ APIGroups, Resources, Verbs []string }
			}
			if err := yaml.Unmarshal([]byte(doc), &object); err != nil || object.Kind == "" || object.APIVersion == "" {
				t.Errorf("%s: %v: %s", name, err, doc)
			}
			for _, rule := range object.Rules {
				for _, word := range append(append(rule.APIGroups, rule.Resources...), rule.Verbs...) {
					if strings.Contains(word, "*") {
						t.Errorf("%s grants %s", name, word)
					}
				}
			}
		}
	}
}
