package manifest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const (
	scorer = `apiVersion: spokewire.dev/v1alpha1
kind: Scorer
metadata: {name: gpu}
spec:
  cel: linear(metric("gpu_free"), 0, 8)
  validFor: 60s
`
	placement = `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: train}
spec:
  numberOfClusters: 1
  prioritizerPolicy:
    mode: Exact
    configurations:
      - scoreCoordinate: {type: AddOn, addOn: {resourceName: gpu, scoreName: gpu}}
        weight: 1
`
)

func TestParse(t *testing.T) {
	t.Parallel()
	objects, err := Parse([]byte("# comment\n---\n" + scorer + "---\n" + placement + "--- # nothing\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range objects {
		got = append(got, o.String(), o.Kind.Subject(o.Namespace, o.Name))
	}
	want := []string{
		"Scorer gpu", "sw.config.scorer._.gpu",
		"Placement default/train", "sw.config.placement.default.train",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	s := objects[0].Payload.(*schemas.Scorer)
	if s.Spec.ValidFor == nil || *s.Spec.ValidFor != schemas.Duration(time.Minute) || objects[0].Line != 3 || objects[1].Line != 10 {
		t.Errorf("got validFor %v, lines %d and %d, want 1m0s, 3 and 10", s.Spec.ValidFor, objects[0].Line, objects[1].Line)
	}
	if p := objects[1].Payload.(*schemas.PlacementRequest); p.Metadata.Namespace != "default" {
		t.Errorf("got namespace %q, want default", p.Metadata.Namespace)
	}
	for _, o := range objects {
		if _, err := events.New(o.Kind.EventType, "/test", o.Payload); err != nil {
			t.Error(err)
		}
	}
}

const cordon = `apiVersion: spokewire.dev/v1alpha1
kind: Cordon
metadata: {name: spoke-1}
spec: {state: cordoned, until: 2026-12-01T06:00:00Z}
`

func TestParseCordon(t *testing.T) {
	t.Parallel()
	objects, err := Parse([]byte(cordon))
	if err != nil || len(objects) != 1 {
		t.Fatalf("got %v, %v", objects, err)
	}
	c, _ := objects[0].Payload.(*schemas.Cordon)
	if c == nil || c.Spec.Until == nil || objects[0].Kind.Subject("", objects[0].Name) != "sw.config.cordon._.spoke-1" {
		t.Errorf("got %+v", objects[0])
	}
}

// dynamicScorer has the shape of upstream's samples.
const dynamicScorer = `apiVersion: dynamic-scoring.open-cluster-management.io/v1alpha1
kind: DynamicScorer
metadata:
  name: sample-scorer
spec:
  description: A sample scorer for time series data
  configURL: http://sample-scorer.dynamic-scoring.svc:8000/config
  configSyncMode: Full
  location: Internal
  scoreDestination: AddOnPlacementScore
  scoreDimensionFormat: "${node};${namespace};${pod}"
  source:
    host: http://prometheus.monitoring.svc:9090
    path: /api/v1/query_range
  scoring:
    path: /scoring
    auth:
      tokenSecretRef: {name: api-auth-secret, key: token}
---
apiVersion: dynamic-scoring.open-cluster-management.io/v1alpha1
kind: DynamicScoringConfig
metadata: {name: dynamic-scoring-config, namespace: ocm}
spec:
  masks:
    - {clusterName: cluster2, scoreName: my_score}
`

func TestParseDynamicScoring(t *testing.T) {
	t.Parallel()
	objects, err := Parse([]byte(dynamicScorer))
	if err != nil || len(objects) != 2 {
		t.Fatalf("got %v, %v", objects, err)
	}
	d, _ := objects[0].Payload.(*schemas.DynamicScorerRequest)
	if d == nil || d.Metadata.Namespace != "default" || d.Spec.Scoring.Auth.TokenSecretRef.Key != "token" ||
		objects[0].Kind.Subject(objects[0].Namespace, objects[0].Name) != "sw.config.dynamicscorer.default.sample-scorer" || objects[0].Kind.Bridged {
		t.Errorf("got %+v", objects[0])
	}
	if c, _ := objects[1].Payload.(*schemas.DynamicScoringConfigRequest); c == nil || len(c.Spec.Masks) != 1 || objects[1].Namespace != "ocm" {
		t.Errorf("got %+v", objects[1])
	}
}

func TestParseJSON(t *testing.T) {
	t.Parallel()
	objects, err := Parse([]byte(`{"apiVersion":"spokewire.dev/v1alpha1","kind":"Scorer","metadata":{"name":"a"},"spec":{"cel":"1"}}`))
	if err != nil || len(objects) != 1 || objects[0].Name != "a" {
		t.Fatalf("got %v, %v, want Scorer a", objects, err)
	}
}

// TestParseOffTheHub: a name that the hub cannot take is one for the bus.
func TestParseOffTheHub(t *testing.T) {
	t.Parallel()
	text := strings.Replace(scorer, "name: gpu", `name: "A b.*>é"`, 1) + "  hub: false\n"
	objects, err := Parse([]byte(text))
	if err != nil || len(objects) != 1 || objects[0].Name != "A b.*>é" {
		t.Errorf("got %v, %v, want the Scorer", objects, err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want string
	}{
		"nothing":             {"", "no document"},
		"only comments":       {"# a\n---\n---\n", "no document"},
		"not YAML":            {"a: [", "line 1"},
		"a list":              {"[1]", "line 1: is an array, want an object with apiVersion, kind and metadata"},
		"an empty list":       {"[]", "line 1: is an array, want an object"},
		"text":                {"hello", "line 1: is a string, want an object"},
		"name of a mapping":   {strings.Replace(scorer, "name: gpu", "name: {a: b}", 1), "line 1: metadata.name is an object, want string"},
		"metadata of a list":  {strings.Replace(scorer, "{name: gpu}", "[]", 1), "line 1: metadata is an array, want an object"},
		"kind of a list":      {"kind: [Scorer]", "line 1: kind is an array, want string"},
		"labels of a text":    {strings.Replace(scorer, "name: gpu", "name: gpu, labels: a", 1), "Scorer gpu: metadata.labels is a string, want an object"},
		"spec of a text":      {strings.Replace(scorer, "  cel: linear(metric(\"gpu_free\"), 0, 8)\n  validFor: 60s\n", "  a\n", 1), "Scorer gpu: spec is a string, want an object"},
		"validity of zero":    {strings.Replace(scorer, "60s", "0s", 1), "Scorer gpu: spec.validFor is 0s, want more than 0"},
		"negative validity":   {strings.Replace(scorer, "60s", "-1s", 1), "Scorer gpu: spec.validFor is "},
		"upper-case scorer":   {strings.Replace(scorer, "name: gpu", "name: ABC", 1), `metadata.name is "ABC", which no object on the hub can be called`},
		"scorer of all sorts": {strings.Replace(scorer, "name: gpu", `name: "a b.*>é"`, 1), "keep the scores off the hub with spec.hub: false"},
		"long scorer":         {strings.Replace(scorer, "name: gpu", "name: "+strings.Repeat("a", 254), 1), "at most 253"},
		"scorer for the hub":  {strings.Replace(scorer, "name: gpu", "name: A", 1) + "  hub: true\n", `metadata.name is "A"`},
		"no kind":             {"a: 1", `kind: "" is not known`},
		"another kind":        {"kind: Deployment", `"Deployment" is not known, want Scorer, Placement, PlacementPolicy, Cordon, DynamicScorer or DynamicScoringConfig`},
		"wrong version":       {strings.Replace(scorer, "v1alpha1", "v9", 1), `Scorer gpu: apiVersion is "spokewire.dev/v9", want "spokewire.dev/v1alpha1"`},
		"second document":     {scorer + "---\n" + strings.Replace(scorer, "cel:", "cl:", 1), `document at line 8: Scorer gpu: unknown field "spec.cl"`},
		"repeated field":      {scorer + "kind: Scorer\n", `key "kind" already set`},
		"wrong case":          {strings.Replace(scorer, "validFor", "validfor", 1), `unknown field "spec.validfor"`},
		"wrong type":          {strings.Replace(placement, "numberOfClusters: 1", "numberOfClusters: many", 1), "spec.numberOfClusters is a string, want int32"},
		"bad duration":        {strings.Replace(scorer, "60s", "60", 1), `Scorer gpu: spec.validFor is 60, want a duration such as "60s"`},
		"unknown unit":        {strings.Replace(scorer, "60s", "1x", 1), `Scorer gpu: spec.validFor is "1x", want a duration such as "60s"`},
		"a label of a number": {strings.Replace(scorer, "name: gpu", "labels: {b: x, a: 1}, name: gpu", 1), "Scorer gpu: metadata.labels.a is a number, want string"},
		"label of no object":  {"metadata: {labels: {a: 1}}", "line 1: metadata.labels.a is a number, want string"},
		"placement's label":   {strings.Replace(placement, "name: train", "name: train, labels: {a: true}", 1), "Placement default/train: metadata.labels.a is a bool, want string"},
		"second toleration":   {placement + "  tolerations:\n  - {key: a}\n  - {key: b, tolerationSeconds: x}\n", "Placement default/train: spec.tolerations[1].tolerationSeconds is a string, want int64"},
		"no name":             {strings.Replace(scorer, "name: gpu", "labels: {}", 1), "metadata.name is empty"},
		"no expression":       {strings.Replace(scorer, "cel: linear(metric(\"gpu_free\"), 0, 8)", "hub: true", 1), "spec.cel is empty"},
		"scorer in namespace": {strings.Replace(scorer, "name: gpu", "name: gpu, namespace: a", 1), "metadata.namespace is \"a\", but a Scorer has no namespace"},
		"cordon in namespace": {strings.Replace(cordon, "name: spoke-1", "name: spoke-1, namespace: a", 1), "metadata.namespace is \"a\", but a Cordon has no namespace"},
		"state of a cordon":   {strings.Replace(cordon, "cordoned", "closed", 1), "Cordon spoke-1: spec.state is \"closed\", want cordoned, draining or lifted"},
		"scorer's mode":       {strings.Replace(dynamicScorer, "Full", "Some", 1), "DynamicScorer default/sample-scorer: spec.configSyncMode is \"Some\", want Full or None"},
		"scorer's typo":       {strings.Replace(dynamicScorer, "tokenSecretRef", "tokenRef", 1), `unknown field "spec.scoring.auth.tokenRef"`},
		"masks of no use":     {strings.Replace(dynamicScorer, "name: dynamic-scoring-config", "name: other", 1), "the masks of no other name count"},
		"typo in a placement": {strings.Replace(placement, "weight:", "wieght:", 1), `unknown field "spec.prioritizerPolicy.configurations[0].wieght"`},
		"placement of status": {placement + "status: {}\n", `unknown field "status"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := Parse([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, %v, want an error with %q", objects, err, tt.want)
			}
		})
	}
}

func TestParseName(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind, text    string
		wantNamespace string
		wantName      string
		wantErr       bool
	}{
		"scorer":              {kind: "scorer", text: "gpu", wantName: "gpu"},
		"placement":           {kind: "Placements", text: "a/b", wantNamespace: "a", wantName: "b"},
		"default namespace":   {kind: "placement", text: "b", wantNamespace: "default", wantName: "b"},
		"scorer in namespace": {kind: "scorer", text: "a/gpu", wantErr: true},
		"empty":               {kind: "scorer", text: "", wantErr: true},
		"no name":             {kind: "placement", text: "a/", wantErr: true},
		"no namespace":        {kind: "placement", text: "/b", wantErr: true},
		"three parts":         {kind: "placement", text: "a/b/c", wantErr: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, err := KindOf(tt.kind)
			if err != nil {
				t.Fatal(err)
			}
			namespace, got, err := kind.ParseName(tt.text)
			if (err != nil) != tt.wantErr || namespace != tt.wantNamespace || got != tt.wantName {
				t.Errorf("got %q, %q, %v", namespace, got, err)
			}
		})
	}
}

// FuzzParse: what is read is valid, and fits into an event.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{scorer, placement, scorer + "---\n" + placement, "---\n--- {}\n", "kind: Scorer\n", dynamicScorer, "&a [*a]", "a: &a [b]\nc: *a\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		objects, err := Parse(text)
		if err != nil {
			return
		}
		for _, o := range objects {
			if _, err := events.New(o.Kind.EventType, "/test", o.Payload); err != nil {
				t.Errorf("%s at line %d was read, but is refused: %v", o, o.Line, err)
			}
			if _, err := events.ParseSubject(o.Kind.Subject(o.Namespace, o.Name)); err != nil {
				t.Error(err)
			}
		}
	})
}
