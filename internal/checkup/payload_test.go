package checkup

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func clustersOf(n int) []inventory.Cluster {
	clusters := make([]inventory.Cluster, n)
	for i := range clusters {
		clusters[i].Name = fmt.Sprintf("cluster-%08d", i)
	}
	return clusters
}

func TestCheckPayload(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		limit    int64
		clusters int
		judged
	}{
		"NATS's default, a few": {1 << 20, 100, judged{true, "1.0 MiB, and 125 KiB are enough for 100 clusters"}},
		"NATS's default, many":  {1 << 20, 20_000, judged{false, "of 20000 clusters may need 1.5 MiB: set max_payload"}},
		"ours, many":            {2 << 20, 20_000, judged{true, "2.0 MiB"}},
		"too small for anybody": {64 << 10, 0, judged{false, "messages of 64 KiB, but one of 0 clusters may need 125 KiB"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.check(t, checkPayload(tt.limit, clustersOf(tt.clusters)))
		})
	}
}

// What the check takes for the largest messages is no less than the largest
// ones that are made.
func TestPayloadBounds(t *testing.T) {
	t.Parallel()
	explanations := make([]schemas.Explanation, schemas.MaxExplainedSelected+schemas.MaxExplainedRunnerUp)
	for i := range explanations {
		e := schemas.Explanation{Cluster: strings.Repeat("c", 63), Reason: "Selected"}
		for range 8 {
			e.Prioritizers = append(e.Prioritizers, schemas.PrioritizerScore{Name: "AddOn/" + strings.Repeat("s", 40), Score: -100, Weight: 10})
		}
		explanations[i] = e
	}
	text, err := json.Marshal(explanations)
	if err != nil || len(text) > explained {
		t.Errorf("explanations take %d bytes, %v, reckoned with are %d", len(text), err, explained)
	}
	m := events.Message{Stream: "S", Subject: strings.Repeat("s", 1000), Data: make([]byte, 1<<20), Header: events.Header{}}
	for i := range 64 {
		m.Header.Set(fmt.Sprintf("Key-%d", i), strings.Repeat("v", 500))
	}
	letter := events.NewDeadLetter("scorer", m, fmt.Errorf("%s", strings.Repeat("x", 1<<13)))
	if text, err = json.Marshal(&letter); err != nil || len(text) > deadLetter {
		t.Errorf("a dead letter takes %d bytes, %v, reckoned with are %d", len(text), err, deadLetter)
	}
}
