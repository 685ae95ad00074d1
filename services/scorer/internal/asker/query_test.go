package asker

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// collectors are those of a fleet, in the test's hands.
type collectors struct {
	mu    sync.Mutex
	knows map[string]*dynamic.Finding // by subject; the others do not answer
	asked []string
}

func (c *collectors) Request(_ context.Context, subject string, payload []byte) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var q dynamic.Question
	if err := json.Unmarshal(payload, &q); err != nil {
		return nil, err
	}
	c.asked = append(c.asked, subject+" "+string(payload))
	f := c.knows[subject]
	if f == nil {
		return nil, events.ErrNoResponder
	}
	return f.Encode()
}

func (c *collectors) set(cluster string, f *dynamic.Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.knows[events.QuerySubject(cluster)] = f
}

// questions are those so far.
func (c *collectors) questions() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

func seriesOf(node, value string) *dynamic.Finding {
	return &dynamic.Finding{Read: "1 series", Series: []dynamic.Series{{Metric: map[string]string{"node": node}, Values: []dynamic.Value{{Seconds: 1, Text: value}}}}}
}

// fromPrometheus makes it a scorer in the shape of upstream's samples, whose API says
// what it wants to know of each cluster.
func fromPrometheus(api *fake) {
	api.config.Source = schemas.SyncedSource{Type: "Prometheus", Host: "http://prom:9090", Path: "/api/v1/query_range"}
	api.config.Source.Params = schemas.DynamicSourceParams{Query: "load;up", Range: 3600, Step: 60}
}

func startOn(t *testing.T, b *eventstest.Bus, api API, c *collectors) {
	t.Helper()
	start(t, b, api, func(o *Options) { o.Clusters = c })
}

func TestEachClusterIsAskedForItsSeries(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("load_score")
		fromPrometheus(api)
		fleet := &collectors{knows: map[string]*dynamic.Finding{}}
		fleet.set("c1", seriesOf("n1", "0.5"))
		fleet.set("c2", &dynamic.Finding{Failure: &dynamic.Failure{Reason: dynamic.NoData, Message: "no query has a series"}})
		startOn(t, b, api, fleet)
		hubClusters(t, b, "c1", "c2", "c3")
		hubScorer(t, b, "s", 1, sample())
		expect(t, b, "c1", "load-score", "n1=42 Computed")
		expect(t, b, "c2", "load-score", "load_score=- NoData")
		expect(t, b, "c3", "load-score", "load_score=- NotCollected")
		time.Sleep(15 * time.Second) // counts are told when the claim is renewed
		s := expectStatus(t, b, "s", schemas.HealthActive, dynamic.NoData)
		if s.Clusters != 3 || s.Failing[dynamic.NoData] != 1 || s.Failing[dynamic.NotCollected] != 1 {
			t.Errorf("the status is %+v", s)
		}
		expectDiff(t, "posts", []string{`http://scorer:8000/scoring {"data":[{"metric":{"node":"n1"},"values":[[1,"0.5"]]}]}`}, api.posts)
		const question = `sw.query.c1 {"scorer":"ocm/s","source":{"url":"http://prom:9090/api/v1/query_range","queries":["load","up"],"range":3600,"step":60}}`
		if all := strings.Join(fleet.questions(), "\n"); !strings.Contains(all, question) {
			t.Errorf("asked was\n%s\nwant %s", all, question)
		}

		// A collector that comes is asked in time, and a mask ends the asking.
		fleet.set("c3", seriesOf("n3", "1"))
		hubMasks(t, b, schemas.Mask{ClusterName: "c1", ScoreName: "load_score"})
		expect(t, b, "c1", "load-score", "deleted")
		time.Sleep(time.Minute)
		expect(t, b, "c3", "load-score", "n1=42 Computed")
		synctest.Wait()
		before := len(fleet.questions())
		time.Sleep(5 * time.Minute)
		since := fleet.questions()[before:]
		for _, asked := range since {
			if strings.HasPrefix(asked, "sw.query.c1 ") {
				t.Fatalf("a masked cluster is asked: %s", asked)
			}
		}
		if n := len(since); n < 15 {
			t.Errorf("in 5 minutes two clusters were asked %d times, want about every 30s each", n)
		}
	})
}

// TestACutOffClusterHarmsNoOther: its last score stands until it expires, and
// the scorer itself is held for healthy.
func TestACutOffClusterHarmsNoOther(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("load_score")
		fromPrometheus(api)
		fleet := &collectors{knows: map[string]*dynamic.Finding{}}
		fleet.set("c1", seriesOf("n1", "0.5"))
		fleet.set("c2", seriesOf("n2", "0.5"))
		startOn(t, b, api, fleet)
		hubClusters(t, b, "c1", "c2")
		hubScorer(t, b, "s", 1, sample())
		expect(t, b, "c2", "load-score", "n1=42 Computed")
		fleet.set("c2", nil)
		time.Sleep(45 * time.Second)
		expect(t, b, "c2", "load-score", "n1=42 Computed")
		time.Sleep(10 * time.Minute)
		expect(t, b, "c2", "load-score", "n1=- NotCollected")
		expect(t, b, "c1", "load-score", "n1=42 Computed")
		expectStatus(t, b, "s", schemas.HealthActive, dynamic.NotCollected)
		fleet.set("c2", seriesOf("n2", "0.5"))
		time.Sleep(time.Minute)
		expect(t, b, "c2", "load-score", "n1=42 Computed")
		expectStatus(t, b, "s", schemas.HealthActive, "")
	})
}

// TestAnInternalAPIAnswersInItsCluster: nothing is posted from the hub.
func TestAnInternalAPIAnswersInItsCluster(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("load_score")
		fleet := &collectors{knows: map[string]*dynamic.Finding{}}
		fleet.set("c1", &dynamic.Finding{Answer: json.RawMessage(`{"results":[{"metric":{"node":"n1"},"score":7}]}`)})
		fleet.set("c2", &dynamic.Finding{Failure: &dynamic.Failure{Reason: dynamic.Forbidden, Message: "not among the hosts"}})
		fleet.set("c3", &dynamic.Finding{Answer: json.RawMessage(`"hello"`)})
		startOn(t, b, api, fleet)
		hubClusters(t, b, "c1", "c2", "c3")
		hubScorer(t, b, "s", 1, sample(func(s *schemas.DynamicScorerSpec) { s.Location = schemas.LocationInternal }))
		expect(t, b, "c1", "load-score", "n1=7 Computed")
		expect(t, b, "c2", "load-score", "load_score=- Forbidden")
		expect(t, b, "c3", "load-score", "load_score=- BadAnswer")
		if n := api.posted(); n != 0 {
			t.Errorf("%d posts from the hub", n)
		}
		if asked := fleet.questions(); !strings.Contains(asked[0], `"api":{"url":"http://scorer:8000/scoring"}`) {
			t.Errorf("asked was %s", asked[0])
		}
	})
}
