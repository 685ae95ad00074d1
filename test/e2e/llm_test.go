package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"

	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
)

// ratingYAML has the llm-scorer score clusters.
const ratingYAML = `
apiVersion: dynamic-scoring.open-cluster-management.io/v1alpha1
kind: DynamicScorer
metadata: {name: rating}
spec:
  description: What a model says
  configURL: http://%s/scorers/rating/config
  configSyncMode: Full
  location: External
  scoreDestination: AddOnPlacementScore
`

// rateSpoke starts llm-scorer beside a model that counts slots by what it is
// shown, has it score the clusters of s, and expects the score on the hub and
// the model's words in what explains it.
func rateSpoke(t *testing.T, s *stack.Stack) {
	t.Helper()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		content := `{"score":1,"reason":"it shows no slots"}`
		if strings.Contains(string(body), "spokewire_spoke_slots_free") {
			content = `{"score":61,"reason":"some slots are free"}`
		}
		text, _ := json.Marshal(content)
		fmt.Fprintf(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":%s}}]}`, text)
	}))
	t.Cleanup(model.Close)
	address, err := child.FreeAddress(t.Context())
	must(t, err)
	file := filepath.Join(t.TempDir(), "llm.yaml")
	must(t, os.WriteFile(file, fmt.Appendf(nil, `
listen: %s
model: {url: %q, name: tiny}
budgetPerMinute: 1000
scorers:
  - {name: rating, prometheus: "http://prometheus.monitoring.svc:9090", queries: [spokewire_spoke_slots_free], intervalSeconds: 1, rubric: Free slots are good.}
`, address, model.URL), 0o600))
	service := exec.CommandContext(t.Context(), os.Args[0], "run", "llm-scorer", "--config", file, "--listen", "")
	service.Stdout, service.Stderr = t.Output(), t.Output()
	must(t, service.Start())
	t.Cleanup(func() {
		_ = service.Process.Kill()
		_ = service.Wait()
	})
	h := scoringHub{hubClients: hubOf(t, s), t: t}
	h.dynamic = dynamic.NewForConfigOrDie(h.config)
	h.apply(fmt.Sprintf(ratingYAML, address))
	h.expectScores("spoke-3", "rating", "rating=61")
	testwait.Within(t, 20*time.Second, func() string {
		out, err := spokewire(t, s, "get", "scores", "-o", "json")
		if err != nil || !strings.Contains(out, "some slots are free") || !strings.Contains(out, "record=") {
			return fmt.Sprintf("get scores says %v %s", err, out)
		}
		return ""
	})
}
