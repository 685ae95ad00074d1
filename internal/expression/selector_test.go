package expression

import (
	"slices"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func compiler(t testing.TB) *Compiler {
	t.Helper()
	c, err := NewCompiler()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// known are the scores of the cluster under test.
func known(resource string) ([]Score, bool) {
	switch resource {
	case "gpu":
		return []Score{{"free", 40}, {"bad", -7}}, true
	case "none":
		return nil, true
	}
	return nil, false
}

func TestEvaluate(t *testing.T) {
	numbers := "[" + strings.Repeat("1,", 99) + "1]"
	forever := numbers + `.all(a, ` + numbers + `.all(b, ` + numbers + `.all(c, true)))`
	cases := map[string]struct {
		expressions []string
		want        bool
		wantFailure string
	}{
		"no expression":       {nil, true, ""},
		"label":               {[]string{`managedCluster.metadata.labels.region == "eu"`}, true, ""},
		"label in quotes":     {[]string{`managedCluster.metadata.labels["example.com/gpu"] == "true"`}, true, ""},
		"other label":         {[]string{`managedCluster.metadata.labels.region == "us"`}, false, ""},
		"all must be true":    {[]string{`true`, `false`}, false, ""},
		"the first decides":   {[]string{`false`, `managedCluster.nothing == 1`}, false, ""},
		"claim":               {[]string{`managedCluster.status.clusterClaims.exists(c, c.name == "zone" && c.value == "z1")`}, true, ""},
		"filtered claim":      {[]string{`managedCluster.status.clusterClaims.filter(c, c.name == "zone")[0].value == "z1"`}, true, ""},
		"version":             {[]string{`semver(managedCluster.status.version.kubernetes.substring(1)).isGreaterThan(semver("1.36.0"))`}, true, ""},
		"quantity":            {[]string{`quantity(managedCluster.status.capacity.memory).isGreaterThan(quantity("31Gi"))`}, true, ""},
		"condition":           {[]string{`managedCluster.status.conditions.exists(c, c.type == "A" && c.status == "True" && c.reason == "Ok")`}, true, ""},
		"taint":               {[]string{`managedCluster.spec.taints[0].key == "b" && !has(managedCluster.spec.taints[0].value)`}, true, ""},
		"url":                 {[]string{`url(managedCluster.spec.managedClusterClientConfigs[0].url).getHostname() == "b"`}, true, ""},
		"annotation as JSON":  {[]string{`managedCluster.metadata.annotations["example.com/sizes"].parseJSON().gpu[1] == 2.5`}, true, ""},
		"created":             {[]string{`timestamp(managedCluster.metadata.creationTimestamp) < timestamp("2027-01-01T00:00:00Z")`}, true, ""},
		"score":               {[]string{`managedCluster.scores("gpu").filter(s, s.name == "free").all(s, s.value > 30)`}, true, ""},
		"first score":         {[]string{`managedCluster.scores("gpu")[0].value == 40`}, true, ""},
		"no items":            {[]string{`managedCluster.scores("none").size() == 0`}, true, ""},
		"optional":            {[]string{`managedCluster.metadata.labels[?"tier"].orValue("none") == "none"`}, true, ""},
		"no such score":       {[]string{`managedCluster.scores("cpu").size() == 0`}, false, `f[0]: there is no score "cpu"`},
		"another's scores":    {[]string{`{"metadata": {"name": "x"}}.scores("gpu").size() > 0`}, false, "f[0]: scores() is managedCluster's alone"},
		"no such label":       {[]string{`true`, `managedCluster.metadata.labels.tier == "gold"`}, false, "f[1]: no such key: tier"},
		"an error in an or":   {[]string{`managedCluster.metadata.labels.tier == "gold" || true`}, true, ""},
		"no bool":             {[]string{`"true"`}, false, "f[0]: is of type string, want bool"},
		"no kind as in OCM":   {[]string{`has(managedCluster.kind)`}, false, ""},
		"bad JSON":            {[]string{`"{".parseJSON().a == 1`}, false, "f[0]: parseJSON(): unexpected end of JSON input"},
		"for ever":            {[]string{forever}, false, "f[0]: operation cancelled: actual cost limit exceeded"},
		"annotation too long": {[]string{`managedCluster.metadata.annotations.long == "x"`}, false, "f[0]: annotation long is too long for Spokewire to carry"},
		"is it there":         {[]string{`"long" in managedCluster.metadata.annotations`}, true, ""},
	}
	cluster := bridge.Cluster(fullCluster())
	cluster.Omitted = []string{"long"}
	c := compiler(t)
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := c.Compile("f", test.expressions)
			if err != nil {
				t.Fatal(err)
			}
			r := s.Evaluate(NewCluster(cluster), known)
			if r.Matched != test.want || r.Failure != test.wantFailure {
				t.Errorf("got %+v, want %v %q", r, test.want, test.wantFailure)
			}
			if r.Cost > MaxCost+1000 {
				t.Errorf("cost %d is beyond its limit", r.Cost)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	cases := map[string]struct{ expression, want string }{
		"syntax":            {`managedCluster.`, "f[0]: does not compile: 1:16: Syntax error"},
		"unknown variable":  {`cluster.metadata.name == "a"`, "f[0]: does not compile: 1:1: undeclared reference to 'cluster'"},
		"unknown function":  {`managedCluster.score("gpu") > 1`, "f[0]: does not compile: 1:21: undeclared reference to 'score'"},
		"wrong type":        {`1 + "a" == 2`, "f[0]: does not compile: 1:3: found no matching overload"},
		"not in OCM 1.2":    {`["a"].includes("a")`, "f[0]: does not compile: 1:15: undeclared reference to 'includes'"},
		"version":           {`managedCluster.metadata.resourceVersion != ""`, "reads managedCluster.metadata.resourceVersion"},
		"in brackets":       {`managedCluster["metadata"]["managedFields"].size() > 0`, "reads managedCluster.metadata.managedFields"},
		"only asked for":    {`has(managedCluster.metadata.finalizers)`, "reads managedCluster.metadata.finalizers"},
		"in a macro":        {`managedCluster.status.conditions.exists(c, c.message == "x")`, "reads managedCluster.status.conditions[].message"},
		"of a filtered one": {`managedCluster.status.conditions.filter(c, c.type == "A")[0].lastTransitionTime != ""`, "reads managedCluster.status.conditions[].lastTransitionTime"},
		"by place":          {`managedCluster.spec.managedClusterClientConfigs[0].caBundle != ""`, "reads managedCluster.spec.managedClusterClientConfigs[].caBundle"},
		"optional":          {`managedCluster.metadata[?"generation"].hasValue()`, "reads managedCluster.metadata.generation"},
		"optional field":    {`managedCluster.metadata.?generation.hasValue()`, "reads managedCluster.metadata.generation"},
		"order of claims":   {`managedCluster.status.clusterClaims[0].name == "zone"`, "asks for a place in managedCluster.status.clusterClaims"},
		"within a list":     {`[managedCluster.metadata.generation] == [1]`, "reads managedCluster.metadata.generation"},
		"within a map":      {`{"a": managedCluster.metadata.generation}.a == 1`, "reads managedCluster.metadata.generation"},
	}
	c := compiler(t)
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := c.Compile("f", []string{test.expression})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "f[0]: ") {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestOtherFieldsOfTheNameAreFree(t *testing.T) {
	for _, text := range []string{
		`managedCluster.metadata.labels.generation == "3"`,
		`managedCluster.metadata.annotations["x"].parseJSON().message == "m"`,
		`managedCluster.scores("gpu").exists(message, message.value > 1)`,
	} {
		if _, err := compiler(t).Compile("f", []string{text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestResourcesAreThoseOfScores(t *testing.T) {
	s, err := compiler(t).Compile("f", []string{
		`managedCluster.scores("gpu").size() > 0 && ["x"].all(n, managedCluster.scores("cpu").size() > 0)`,
		`managedCluster.scores("gpu").size() > 1`,
	})
	if err != nil || !slices.Equal(s.Resources, []string{"gpu", "cpu"}) || s.AnyResource {
		t.Errorf("resources %v, any %v, %v", s.Resources, s.AnyResource, err)
	}
	if s, err = compiler(t).Compile("f", []string{`managedCluster.scores(managedCluster.metadata.name).size() > 0`}); err != nil || !s.AnyResource {
		t.Errorf("any %v, %v", s.AnyResource, err)
	}
}

// FuzzEvaluate looks for expressions that panic, or cost more than they may.
func FuzzEvaluate(f *testing.F) {
	for _, text := range []string{
		`managedCluster.metadata.labels.region == "eu"`, `managedCluster.scores("gpu").exists(s, s.value > 1)`,
		`"[1]".parseJSON()[0] == 1`, `[1,2].map(x, x * 2).sum() == 6`, `{1: 2}.scores("a")`, `managedCluster["a"][?b]`, `dyn(1).x`,
	} {
		f.Add(text)
	}
	c, cluster := compiler(f), &schemas.Cluster{Name: "a", Labels: map[string]string{"region": "eu"}, Claims: map[string]string{"x": "[1]"}}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := c.Compile("f", []string{text})
		if err != nil {
			return
		}
		if r := s.Evaluate(NewCluster(cluster), known); r.Matched && r.Failure != "" || r.Cost > 2*MaxCost || len(r.Failure) > maxReason+64 {
			t.Errorf("%q gives %+v", text, r)
		}
	})
}

func BenchmarkEvaluate(b *testing.B) {
	for name, text := range map[string]string{
		"label": `managedCluster.metadata.labels.region == "eu"`,
		"claim": `managedCluster.status.clusterClaims.exists(c, c.name == "zone" && c.value == "z1")`,
		"score": `managedCluster.scores("gpu").exists(s, s.name == "free" && s.value > 30)`,
	} {
		b.Run(name, func(b *testing.B) {
			s, err := compiler(b).Compile("f", []string{text})
			if err != nil {
				b.Fatal(err)
			}
			cluster := bridge.Cluster(fullCluster())
			b.ReportAllocs()
			for b.Loop() {
				if !s.Evaluate(NewCluster(cluster), known).Matched {
					b.Fatal("no match")
				}
			}
		})
	}
}

func BenchmarkNewCompiler(b *testing.B) {
	for b.Loop() {
		compiler(b)
	}
}
