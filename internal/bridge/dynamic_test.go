package bridge

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// fromYAML reads an object as the hub has it.
func fromYAML(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

const scorerYAML = `
apiVersion: dynamic-scoring.open-cluster-management.io/v1alpha1
kind: DynamicScorer
metadata: {name: sample, namespace: ocm, uid: u1, generation: 4, resourceVersion: "7"}
spec:
  description: A sample
  configURL: http://scorer:8000/config
  configSyncMode: Full
  location: Internal
  scoreDimensionFormat: "${node};${pod}"
  source: {host: "http://prometheus:9090", path: /api/v1/query_range, params: {query: up, range: 60, step: 10}, extra: 1}
  scoring: {path: /scoring, auth: {tokenSecretRef: {name: api-auth, key: token}}}
`

func TestDynamicScorerIsRead(t *testing.T) {
	t.Parallel()
	got, err := DynamicScorer(fromYAML(t, scorerYAML))
	if err != nil {
		t.Fatal(err)
	}
	want := &schemas.DynamicScorer{Name: "sample", Namespace: "ocm", UID: "u1", Generation: 4, Spec: schemas.DynamicScorerSpec{
		Description: "A sample", ConfigURL: "http://scorer:8000/config", ConfigSyncMode: "Full", Location: "Internal", ScoreDimensionFormat: "${node};${pod}",
		Source:  &schemas.DynamicSource{Host: "http://prometheus:9090", Path: "/api/v1/query_range", Params: &schemas.DynamicSourceParams{Query: "up", Range: 60, Step: 10}},
		Scoring: &schemas.DynamicScoring{Path: "/scoring", Auth: &schemas.DynamicAuth{TokenSecretRef: schemas.TokenRef{Name: "api-auth", Key: "token"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := DynamicScorer(fromYAML(t, strings.Replace(scorerYAML, "range: 60", "range: soon", 1))); err == nil || !strings.Contains(err.Error(), "DynamicScorer ocm/sample") {
		t.Errorf("a range that is no number: %v", err)
	}
	config, err := DynamicScoringConfig(fromYAML(t, `
kind: DynamicScoringConfig
metadata: {name: dynamic-scoring-config, namespace: ocm, uid: u2}
spec: {masks: [{clusterName: c1, scoreName: s}]}`))
	if err != nil || config.UID != "u2" || len(config.Masks) != 1 || config.Masks[0] != (schemas.Mask{ClusterName: "c1", ScoreName: "s"}) {
		t.Errorf("got %+v, %v", config, err)
	}
}

func TestPlanScorerStatus(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	said := schemas.ScorerStatus{
		Namespace: "ocm", Name: "sample", UID: "u1", Generation: 4, Health: schemas.HealthActive, Clusters: 3, Holder: "a", HeldUntil: now.Add(30 * time.Second),
		Config: &schemas.SyncedConfig{Name: "sample", Source: schemas.SyncedSource{Type: "None"}, Scoring: schemas.SyncedScoring{Path: "/scoring", Params: schemas.DynamicScoringParams{Name: "s", Interval: 30}}},
	}
	have := fromYAML(t, scorerYAML)
	plan := func(s schemas.ScorerStatus, now time.Time, conditions bool) bool {
		t.Helper()
		status, differs, again, err := PlanScorerStatus(have, &s, now, conditions)
		if err != nil {
			t.Fatal(err)
		}
		if silent := s.HeldUntil.Add(notAskedAfter); now.Before(silent) && !again.Equal(silent) {
			t.Errorf("to be looked at again at %v, want when nobody speaks any more", again)
		}
		have.Object["status"] = status
		return differs
	}
	expect := func(health, status, reason string) {
		t.Helper()
		var got dynamicStatus
		if err := into(have, "status", &got); err != nil {
			t.Fatal(err)
		}
		if got.HealthStatus != health || len(got.Conditions) != 1 || string(got.Conditions[0].Status) != status || got.Conditions[0].Reason != reason ||
			got.LastSyncedConfig == nil || got.LastSyncedConfig.Scoring.Params.Name != "s" {
			t.Errorf("the status is %+v, want %s, %s %s", got, health, status, reason)
		}
	}
	if !plan(said, now, true) {
		t.Error("the first status is no difference")
	}
	expect("Active", "True", ReasonScored)
	more := said
	more.Clusters, more.HeldUntil = 4, now.Add(time.Minute)
	if plan(more, now, true) {
		t.Error("one more cluster is a difference")
	}
	bad := said
	bad.Health, bad.Reason, bad.Message, bad.Config = schemas.HealthInactive, "TokenMissing", "no file", nil
	if !plan(bad, now, true) {
		t.Error("trouble is no difference")
	}
	expect("Inactive", "False", "TokenMissing")
	bad.Message = "still no file"
	if plan(bad, now, false) {
		t.Error("conditions count although the hub does not keep them")
	}
	if !plan(bad, now.Add(61*time.Second), false) {
		t.Error("that nobody says anything any more is no difference")
	}
	expect("Unknown", "Unknown", ReasonNotAsked)
}

func TestScorerEventIsNamedByWhatItSays(t *testing.T) {
	t.Parallel()
	u := fromYAML(t, scorerYAML)
	bad := metav1.Condition{Status: metav1.ConditionFalse, Reason: "TokenMissing", Message: "no file"}
	first, again := ScorerEvent(u, bad, time.Now(), "r1"), ScorerEvent(u, bad, time.Now(), "r2")
	if first.Name != again.Name || first.Type != "Warning" || first.Regarding.Name != "sample" || first.Regarding.Kind != "DynamicScorer" {
		t.Errorf("%+v and %+v", first, again)
	}
	bad.Message = "another"
	if other := ScorerEvent(u, bad, time.Now(), "r1"); other.Name == first.Name {
		t.Error("two reasons have one name")
	}
	u.SetName(strings.Repeat("a", 253))
	good := ScorerEvent(u, metav1.Condition{Status: metav1.ConditionTrue, Reason: "Scored", Message: strings.Repeat("x", 2000)}, time.Now(), "r")
	if len(good.Name) > 253 || len(good.Note) > 1024 || good.Type != "Normal" {
		t.Errorf("the Event breaks the API's bounds: name of %d, note of %d, type %s", len(good.Name), len(good.Note), good.Type)
	}
}
