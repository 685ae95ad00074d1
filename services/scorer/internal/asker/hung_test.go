package asker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// slow is a scoring API that takes a second over each post.
type slow struct{ *fake }

func (s slow) Post(ctx context.Context, url string, token *schemas.TokenRef, body []byte, limit int64) ([]byte, error) {
	time.Sleep(time.Second)
	return s.fake.Post(ctx, url, token, body, limit)
}

// TestAClusterThatGoesWhileItTriesBlocksNobody: the one call that a scorer
// gets after many failures may be about a cluster that is masked meanwhile.
func TestAClusterThatGoesWhileItTriesBlocksNobody(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("load_score")
		fromPrometheus(api)
		api.fail = &dynamic.Failure{Reason: dynamic.BadStatus, Message: "500"}
		fleet := &collectors{knows: map[string]*dynamic.Finding{}}
		fleet.set("c1", seriesOf("n1", "1"))
		fleet.set("c2", seriesOf("n2", "1"))
		startOn(t, b, slow{api}, fleet)
		hubClusters(t, b, "c1")
		hubScorer(t, b, "s", 1, sample())
		for tries := api.posted(); tries < 6; tries = api.posted() {
			time.Sleep(100 * time.Millisecond) // the breaker is open after five
		}
		for asked := len(fleet.questions()); len(fleet.questions()) == asked; {
			time.Sleep(50 * time.Millisecond) // until the next one tries
		}
		api.set(func(f *fake) { f.fail = nil })
		hubMasks(t, b, schemas.Mask{ClusterName: "c1", ScoreName: "load_score"})
		hubClusters(t, b, "c2")
		time.Sleep(3 * time.Minute)
		expect(t, b, "c2", "load-score", "n1=42 Computed")
		expectStatus(t, b, "s", schemas.HealthActive, "")
	})
}

// hanging is a fleet in which the collectors of some clusters take a question
// and do not answer, as those do that were cut off without a word.
type hanging struct {
	*collectors
	hangs map[string]bool // by subject
}

func (h hanging) Request(ctx context.Context, subject string, payload []byte) ([]byte, error) {
	if h.hangs[subject] {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return h.collectors.Request(ctx, subject, payload)
}

// TestClustersThatHangHoldUpNoOther: once it is known that they do, most calls
// are for those that answer.
func TestClustersThatHangHoldUpNoOther(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("load_score")
		fromPrometheus(api)
		fleet := hanging{&collectors{knows: map[string]*dynamic.Finding{}}, map[string]bool{}}
		start(t, b, api, func(o *Options) { o.Clusters = fleet })
		for i := range 100 {
			name := fmt.Sprintf("c%03d", i)
			fleet.set(name, seriesOf("n1", "1"))
			fleet.hangs[events.QuerySubject(name)] = i%2 == 0
			hubClusters(t, b, name)
		}
		hubScorer(t, b, "s", 1, sample())
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		before := len(fleet.questions())
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if n := len(fleet.questions()) - before; n < 400 {
			t.Errorf("in 5 minutes the 50 clusters that answer were asked %d times, want about every 30s each", n)
		}
		expect(t, b, "c001", "load-score", "n1=42 Computed")
		expect(t, b, "c002", "load-score", "load_score=- Timeout")
	})
}

// TestClustersHaveTokensOfTheirOwn: the scorer has no use for them.
func TestClustersHaveTokensOfTheirOwn(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("load_score")
		api.token = &dynamic.Failure{Reason: dynamic.TokenMissing, Message: "it is not here"}
		fleet := &collectors{knows: map[string]*dynamic.Finding{}}
		fleet.set("c1", &dynamic.Finding{Answer: json.RawMessage(`{"results":[{"metric":{"node":"n1"},"score":7}]}`)})
		startOn(t, b, api, fleet)
		hubClusters(t, b, "c1")
		auth := &schemas.DynamicAuth{TokenSecretRef: schemas.TokenRef{Name: "api", Key: "token"}}
		hubScorer(t, b, "s", 1, sample(func(s *schemas.DynamicScorerSpec) {
			s.Location, s.Scoring = schemas.LocationInternal, &schemas.DynamicScoring{Auth: auth}
		}))
		expect(t, b, "c1", "load-score", "n1=7 Computed")
		expectStatus(t, b, "s", schemas.HealthActive, "")
		if asked := fleet.questions(); !strings.Contains(asked[0], `"token":{"name":"api","key":"token"}`) {
			t.Errorf("the collector is not told which token: %s", asked[0])
		}
	})
}

// refusing is a fleet whose collectors refuse.
type refusing struct{ error }

func (r refusing) Request(context.Context, string, []byte) ([]byte, error) { return nil, r.error }

// TestWhyACollectorFoundNothing: each refusal has a reason that says what to do.
func TestWhyACollectorFoundNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err          error
		reason, want string
	}{
		"nobody":    {events.ErrNoResponder, dynamic.NotCollected, "dynamicScoring"},
		"busy":      {events.Refusef(events.RefusedBusy, "", "later"), dynamic.Timeout, "too much to do: later"},
		"too long":  {events.Refusef(events.RefusedTimeout, "", "35s"), dynamic.Timeout, "too much to do: 35s"},
		"too large": {events.Refusef(events.RefusedTooLarge, "", "the answer has 3000000 bytes"), dynamic.TooLarge, "aggregate in the query"},
		"failed":    {events.Refusef(events.RefusedFailed, "", "see the log"), dynamic.Unreachable, "see the log"},
		"denied":    {events.ErrDenied, dynamic.Unreachable, "c1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Clusters: refusing{tt.err}}
			_, failed := o.find(t.Context(), "c1", &dynamic.Question{}, time.Second)
			if failed == nil || failed.Reason != tt.reason || !strings.Contains(failed.Message, tt.want) {
				t.Errorf("got %v, want %s with %q", failed, tt.reason, tt.want)
			}
		})
	}
}

// picky is a scoring API that has no answer to what it is told of some nodes.
type picky struct {
	*fake
	refuses string
}

func (p picky) Post(ctx context.Context, url string, token *schemas.TokenRef, body []byte, limit int64) ([]byte, error) {
	answer, err := p.fake.Post(ctx, url, token, body, limit)
	if err == nil && strings.Contains(string(body), p.refuses) {
		return nil, &dynamic.Failure{Reason: dynamic.BadStatus, Message: "422"}
	}
	return answer, err
}

// TestWhatOneClusterHasDoesNotOpenTheCircuit: a spoke may send what makes the
// scoring API fail, and others are scored by that API too.
func TestWhatOneClusterHasDoesNotOpenTheCircuit(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("load_score")
		fromPrometheus(api)
		fleet := &collectors{knows: map[string]*dynamic.Finding{}}
		for i := range 10 {
			name := fmt.Sprintf("p%d", i)
			fleet.set(name, seriesOf("poison", "1"))
			hubClusters(t, b, name)
		}
		fleet.set("c2", seriesOf("n2", "1"))
		startOn(t, b, picky{api, "poison"}, fleet)
		hubClusters(t, b, "c2")
		hubScorer(t, b, "s", 1, sample())
		time.Sleep(time.Minute)
		synctest.Wait()
		api.set(func(f *fake) { f.posts = nil })
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		good := 0
		api.set(func(f *fake) {
			for _, post := range f.posts {
				if strings.Contains(post, "n2") {
					good++
				}
			}
		})
		if good < 18 {
			t.Errorf("in 10 minutes the cluster that is answered was asked about %d times, want about every 30s", good)
		}
		expect(t, b, "p1", "load-score", "load_score=- BadStatus")
		expectDiff(t, "scores of c2", []string{"n1=42 Computed"}, slices.Compact(history(t, b, "c2", "load-score")))
	})
}

// TestFindingsOfNothing: an API that wants series is not posted none.
func TestFindingsOfNothing(t *testing.T) {
	run(t, func(t *testing.T, b *eventstest.Bus) {
		api := newFake("load_score")
		fromPrometheus(api)
		fleet := &collectors{knows: map[string]*dynamic.Finding{}}
		fleet.set("c1", &dynamic.Finding{})
		fleet.set("c2", &dynamic.Finding{Series: []dynamic.Series{{}}})
		startOn(t, b, api, fleet)
		hubClusters(t, b, "c1", "c2")
		hubScorer(t, b, "s", 1, sample())
		expect(t, b, "c1", "load-score", "load_score=- NoData")
		expect(t, b, "c2", "load-score", "n1=42 Computed")
		api.set(func(f *fake) {
			expectDiff(t, "posts", []string{`http://scorer:8000/scoring {"data":[{"metric":{},"values":[]}]}`}, f.posts)
		})
	})
}
