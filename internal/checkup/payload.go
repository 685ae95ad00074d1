package checkup

import (
	"encoding/json"
	"fmt"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const (
	// explained is what the explanations of one decision take at most, for
	// Placements with many prioritizers; headers and the rest of the frame
	// are in it.
	explained = 64 << 10
	// deadLetter is what a dead letter takes at most: its body in base64,
	// the reason and the headers.
	deadLetter = (schemas.MaxDeadBody+2)/3*4 + 40<<10
)

// checkPayload compares what the server takes with the largest messages of
// the fleet: a decision that selects every cluster anew, and a dead letter.
func checkPayload(limit int64, clusters []inventory.Cluster) Finding {
	need := max(largestDecision(clusters), deadLetter)
	f := Finding{Check: "payload limit", OK: limit >= need, Detail: fmt.Sprintf("%s, and %s are enough for %d clusters", table.Size(limit), table.Size(need), len(clusters))}
	if !f.OK {
		f.Detail = fmt.Sprintf("the server takes messages of %s, but one of %d clusters may need %s: set max_payload in the server's configuration to at least %d (deploy/nats/nats.conf has 2 MiB) and reload it",
			table.Size(limit), len(clusters), table.Size(need), need)
	}
	return f
}

func largestDecision(clusters []inventory.Cluster) int64 {
	score := int64(schemas.MinScore) * 1000
	d := schemas.PlacementDecision{}
	for _, c := range clusters {
		d.Clusters = append(d.Clusters, schemas.SelectedCluster{Name: c.Name, Score: score})
		d.Added = append(d.Added, c.Name)
	}
	text, err := json.Marshal(&d)
	if err != nil {
		return explained
	}
	return int64(len(text)) + explained
}
