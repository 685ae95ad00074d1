package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/hub"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

var installScoring = sync.OnceValue(func() error { return hub.InstallDynamicScoring(context.Background(), theHub.Admin()) })

// scorerYAML has the shape of upstream's samples.
const scorerYAML = `
apiVersion: dynamic-scoring.open-cluster-management.io/v1alpha1
kind: DynamicScorer
metadata:
  name: simple-prediction-scorer
spec:
  description: A simple prediction scorer for time series data
  configURL: http://simple-prediction-scorer:8000/config
  configSyncMode: Full
  location: Internal
  scoreDestination: AddOnPlacementScore
  scoreDimensionFormat: "${namespace}"
  source:
    host: http://kube-prometheus-kube-prome-prometheus.monitoring.svc:9090
    path: /api/v1/query_range
    type: prometheus
  scoring:
    path: /scoring
    auth:
      tokenSecretRef:
        name: api-auth-secret
        key: token
`

const masksYAML = `
apiVersion: dynamic-scoring.open-cluster-management.io/v1alpha1
kind: DynamicScoringConfig
metadata:
  name: dynamic-scoring-config
spec:
  masks:
    - clusterName: "cluster2"
      scoreName: "llm_forecast_score"
`

// scoringHub is the dynamic scoring of one test.
type scoringHub struct {
	*env
	client dynamic.Interface
}

func (e scoringHub) create(text string) *unstructured.Unstructured {
	e.t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	resource := bridge.DynamicScorers
	if u.GetKind() == schemas.DynamicScoringConfigKind {
		resource = bridge.DynamicScoringConfigs
	}
	if err == nil {
		u, err = e.client.Resource(resource).Namespace(e.ns).Create(e.t.Context(), u, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return u
}

func (e scoringHub) say(s *schemas.ScorerStatus) {
	e.t.Helper()
	s.Namespace, s.Holder = e.ns, "test"
	e.publish(events.StatusSubject(events.KindDynamicScorer, e.ns, s.Name), schemas.TypeStatusDynamicScorer, s)
}

// status waits until check is content with the status of the DynamicScorer.
func (e scoringHub) status(name, what string, check func(health string, config map[string]any, c *metav1.Condition) bool) {
	e.t.Helper()
	eventually(e.t, what, func() error {
		u, err := e.client.Resource(bridge.DynamicScorers).Namespace(e.ns).Get(e.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var status struct {
			HealthStatus     string
			LastSyncedConfig map[string]any
			Conditions       []metav1.Condition
		}
		data, err := json.Marshal(u.Object["status"])
		if err == nil {
			err = json.Unmarshal(data, &status)
		}
		if err == nil && !check(status.HealthStatus, status.LastSyncedConfig, meta.FindStatusCondition(status.Conditions, bridge.ConditionScoring)) {
			err = fmt.Errorf("it is %s", data)
		}
		return err
	})
}

// TestDynamicScoring is one test, for the definitions come while it runs.
func TestDynamicScoring(t *testing.T) {
	t.Parallel()
	e := scoringHub{start(t), dynamic.NewForConfigOrDie(theHub.Admin())}
	// What the bus still says of a hub that serves none of it is ended.
	subject := events.HubSubject(events.KindDynamicScorer, e.ns, "left")
	e.publish(subject, schemas.TypeHubDynamicScorer, &schemas.DynamicScorer{Name: "left", Namespace: e.ns, UID: "x"})
	eventually(t, "what the hub does not have is ended", func() error {
		_, err := last[*schemas.Deleted](e.env, events.StreamHub, subject)
		return err
	})

	if err := installScoring(); err != nil {
		t.Fatal(err)
	}
	scorer := e.create(scorerYAML)
	e.create(masksYAML)
	eventuallyWithin(t, time.Minute, "the bus knows the scorer", func() error {
		got, err := last[*schemas.DynamicScorer](e.env, events.StreamHub, events.HubSubject(events.KindDynamicScorer, e.ns, "simple-prediction-scorer"))
		if err == nil && (got.UID != string(scorer.GetUID()) || got.Spec.Scoring.Auth.TokenSecretRef.Key != "token" || got.Spec.Source.Type != "prometheus") {
			err = fmt.Errorf("it is %+v", got)
		}
		return err
	})
	observed(e.env, events.KindScoringConfig, e.ns, schemas.DynamicScoringConfigName, func(c *schemas.DynamicScoringConfig) error {
		if len(c.Masks) != 1 || c.Masks[0].ScoreName != "llm_forecast_score" {
			return fmt.Errorf("the masks are %+v", c.Masks)
		}
		return nil
	})
	e.testStatus(scorer)
	e.testGone(scorer)
}

func (e scoringHub) testStatus(scorer *unstructured.Unstructured) {
	now := time.Now()
	e.say(&schemas.ScorerStatus{
		Name: scorer.GetName(), UID: string(scorer.GetUID()), Generation: 1, Health: schemas.HealthActive, ScoreName: "s", Clusters: 2, HeldUntil: now.Add(time.Hour),
		ConfigURL: "http://x/", Config: &schemas.SyncedConfig{
			Name: "static", Source: schemas.SyncedSource{Type: "None"}, Scoring: schemas.SyncedScoring{Path: "/scoring", Params: schemas.DynamicScoringParams{Name: "s", Interval: 30}},
		},
	})
	e.status(scorer.GetName(), "the status says that it is active", func(health string, config map[string]any, c *metav1.Condition) bool {
		return health == "Active" && config["name"] == "static" && c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == 1
	})
	e.say(&schemas.ScorerStatus{
		Name: scorer.GetName(), UID: string(scorer.GetUID()), Health: schemas.HealthInactive, Reason: "TokenMissing", Message: "there is no file api-auth-secret/token",
		HeldUntil: now.Add(time.Hour),
	})
	e.status(scorer.GetName(), "the status says what is missing", func(health string, config map[string]any, c *metav1.Condition) bool {
		return health == "Inactive" && config["name"] == "static" && c != nil && c.Reason == "TokenMissing" && strings.Contains(c.Message, "api-auth-secret/token")
	})
	eventually(e.t, "an Event says it too", func() error {
		list, err := kubernetes.NewForConfigOrDie(theHub.Admin()).EventsV1().Events(e.ns).List(e.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, event := range list.Items {
			if event.Regarding.UID == scorer.GetUID() && event.Type == "Warning" && event.Reason == "TokenMissing" {
				return nil
			}
		}
		return fmt.Errorf("there are %d others", len(list.Items))
	})
	// Of another object of that name nothing is said on this one.
	e.say(&schemas.ScorerStatus{Name: scorer.GetName(), UID: "another", Health: schemas.HealthUnknown, HeldUntil: now.Add(time.Hour)})
	e.say(&schemas.ScorerStatus{Name: "nobody", UID: "nobody", Health: schemas.HealthUnknown, HeldUntil: now.Add(time.Hour)})
}

func (e scoringHub) testGone(scorer *unstructured.Unstructured) {
	if err := e.client.Resource(bridge.DynamicScorers).Namespace(e.ns).Delete(e.t.Context(), scorer.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		e.t.Fatal(err)
	}
	eventually(e.t, "the bus knows that it is gone", func() error {
		_, err := last[*schemas.Deleted](e.env, events.StreamHub, events.HubSubject(events.KindDynamicScorer, e.ns, scorer.GetName()))
		return err
	})
	if _, err := last[*schemas.ScorerStatus](e.env, events.StreamStatus, events.StatusSubject(events.KindDynamicScorer, e.ns, scorer.GetName())); errors.Is(err, events.ErrNotFound) {
		e.t.Error("the bridge ended a status, which is the scorer's")
	}
}
