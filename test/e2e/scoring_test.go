package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
)

// scoringAPI is a scoring API in the shape of upstream's static sample: two
// scorers at one host.
type scoringAPI struct {
	*httptest.Server
	mu     sync.Mutex
	token  string            // that it wants
	scores map[string]string // by cluster, as JSON
	broken bool              // it answers a page of HTML
}

func serveScoring(t *testing.T) *scoringAPI {
	a := &scoringAPI{scores: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"status":"ok"}`) })
	mux.HandleFunc("GET /performance/config", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"name":"example-performance-scorer","description":"An example","source":{"type":"None"},
			"scoring":{"path":"/performance/scoring","params":{"name":"example_performance_score","interval":1}}}`)
	})
	mux.HandleFunc("POST /performance/scoring", a.score)
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func (a *scoringAPI) score(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var body map[string]any
	err := json.NewDecoder(r.Body).Decode(&body)
	if data, there := body["data"]; err != nil || !there || data != nil {
		http.Error(w, "want data of null", http.StatusUnprocessableEntity)
		return
	}
	if a.token != "" && r.Header.Get("Authorization") != "Bearer "+a.token {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	if a.broken {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><body>It works!</body></html>")
		return
	}
	var results []string
	for cluster, score := range a.scores {
		results = append(results, fmt.Sprintf(`{"metric":{"cluster":%q,"app":"app01","device":"all"},"score":%s}`, cluster, score))
	}
	fmt.Fprintf(w, `{"results":[%s]}`, strings.Join(results, ","))
}

func (a *scoringAPI) set(change func(*scoringAPI)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

// performanceYAML is upstream's sample of that name, at another address.
const performanceYAML = `
apiVersion: dynamic-scoring.open-cluster-management.io/v1alpha1
kind: DynamicScorer
metadata:
  name: example-performance-scorer
spec:
  description: An example performance scorer for applications and devices
  configURL: %s/performance/config
  configSyncMode: Full
  location: External
  scoreDestination: AddOnPlacementScore
  scoreDimensionFormat: "${app};${device}"
  scoring:
    auth:
      tokenSecretRef:
        name: api-auth-secret
        key: token
`

// scoringHub is the hub's dynamic scoring, as an administrator.
type scoringHub struct {
	hubClients
	t       *testing.T
	dynamic dynamic.Interface
}

func (h scoringHub) apply(text string) *unstructured.Unstructured {
	h.t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	resource := bridge.DynamicScorers
	if u.GetKind() == "DynamicScoringConfig" {
		resource = bridge.DynamicScoringConfigs
	}
	if err == nil {
		u, err = h.dynamic.Resource(resource).Namespace("default").Create(h.t.Context(), u, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return u
}

// scores are the items of an AddOnPlacementScore, as NAME=VALUE.
func (h scoringHub) scores(cluster, name string) (string, error) {
	s, err := h.ocm.ClusterV1alpha1().AddOnPlacementScores(cluster).Get(h.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "none", nil
	}
	if err != nil {
		return "", err
	}
	var items []string
	for _, item := range s.Status.Scores {
		items = append(items, fmt.Sprintf("%s=%d", item.Name, item.Value))
	}
	return strings.Join(items, " "), nil
}

func (h scoringHub) expectScores(cluster, name, want string) {
	h.t.Helper()
	testwait.Within(h.t, time.Minute, func() string {
		got, err := h.scores(cluster, name)
		if err != nil || got != want {
			return fmt.Sprintf("the hub scores %s %q (%v), want %q", cluster, got, err, want)
		}
		return ""
	})
}

func (h scoringHub) expectStatus(health, reason string) {
	h.t.Helper()
	testwait.Within(h.t, time.Minute, func() string {
		u, err := h.dynamic.Resource(bridge.DynamicScorers).Namespace("default").Get(h.t.Context(), "example-performance-scorer", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		status, err := json.Marshal(u.Object["status"])
		if said := string(status); err != nil || !strings.Contains(said, `"healthStatus":"`+health+`"`) || !strings.Contains(said, `"reason":"`+reason+`"`) {
			return fmt.Sprintf("the status is %s (%v), want %s and %s", said, err, health, reason)
		}
		return ""
	})
}

// TestDynamicScorers: a manifest of upstream's shape on a real hub, a real
// scoring service, and scores in AddOnPlacementScores by which a Placement is
// decided.
func TestDynamicScorers(t *testing.T) {
	t.Parallel()
	api, tokens := serveScoring(t), t.TempDir()
	api.token = "dummy-token-1234"
	api.scores = map[string]string{"spoke-1": "80.4", "spoke-2": "1e308", "other": "1"}
	s := startStack(t, func(o *stack.Options) {
		o.Spokes = 2
		o.Args = map[string][]string{"scorer": {"--token-dir", tokens}}
	})
	h := scoringHub{hubClients: hubOf(t, s), t: t}
	h.dynamic = dynamic.NewForConfigOrDie(h.config)
	h.apply(fmt.Sprintf(performanceYAML, api.URL))
	h.expectStatus("Inactive", "TokenMissing")
	if out, err := spokewire(t, s, "get", "scorers", "example-performance-scorer"); err != nil || !strings.Contains(out, "TokenMissing") || !strings.Contains(out, "api-auth-secret/token") {
		t.Errorf("get scorers says %v %s", err, out)
	}

	if err := os.Mkdir(filepath.Join(tokens, "api-auth-secret"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tokens, "api-auth-secret", "token"), []byte("dummy-token-1234\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const name = "example-performance-score"
	h.expectScores("spoke-1", name, "app01;all=80")
	h.expectScores("spoke-2", name, "app01;all=100")
	h.expectStatus("Active", "Scored")

	_, err := h.ocm.ClusterV1beta1().Placements("default").Create(t.Context(), &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Name: "app01", Namespace: "default", Annotations: map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}},
		Spec: clusterv1beta1.PlacementSpec{NumberOfClusters: ptr(int32(1)), PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode: clusterv1beta1.PrioritizerPolicyModeExact,
			Configurations: []clusterv1beta1.PrioritizerConfig{{Weight: 1, ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
				Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: name, ScoreName: "app01;all"},
			}}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h.expectWinner("app01", "spoke-2")
	api.set(func(a *scoringAPI) { a.scores["spoke-2"] = "12" })
	h.expectWinner("app01", "spoke-1")

	// A bad answer is a reason, and no number.
	api.set(func(a *scoringAPI) { a.broken = true })
	h.expectStatus("Inactive", "NotJSON")
	h.expectScores("spoke-1", name, "") // the last good one has expired
	api.set(func(a *scoringAPI) { a.broken = false })
	h.expectScores("spoke-1", name, "app01;all=80")

	h.apply(`
apiVersion: dynamic-scoring.open-cluster-management.io/v1alpha1
kind: DynamicScoringConfig
metadata: {name: dynamic-scoring-config}
spec: {masks: [{clusterName: spoke-1, scoreName: example_performance_score}]}
`)
	h.expectScores("spoke-1", name, "none")
	h.expectScores("spoke-2", name, "app01;all=12")
	if err := h.dynamic.Resource(bridge.DynamicScorers).Namespace("default").Delete(t.Context(), "example-performance-scorer", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.expectScores("spoke-2", name, "none")
}

func ptr[T any](v T) *T { return &v }

func (h scoringHub) expectWinner(placement, want string) {
	h.t.Helper()
	testwait.Within(h.t, time.Minute, func() string {
		list, err := h.ocm.ClusterV1beta1().PlacementDecisions("default").List(h.t.Context(), metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + placement})
		if err != nil || len(list.Items) != 1 || len(list.Items[0].Status.Decisions) != 1 {
			return fmt.Sprintf("%s is not placed on one cluster (%v)", placement, err)
		}
		if got := list.Items[0].Status.Decisions[0].ClusterName; got != want {
			return fmt.Sprintf("%s is placed on %s, want %s", placement, got, want)
		}
		return ""
	})
}
