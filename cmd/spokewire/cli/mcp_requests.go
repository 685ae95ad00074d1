package cli

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

type (
	mcpCordon struct {
		Cluster string `json:"cluster" jsonschema:"the cluster"`
		State   string `json:"state" jsonschema:"cordoned (takes nothing new), draining (lets go what others can take) or lifted"`
		Reason  string `json:"reason,omitempty" jsonschema:"why, for the operators"`
	}
	mcpRebalance struct {
		Placement string `json:"placement" jsonschema:"the Placement, as NAMESPACE/NAME"`
		Reason    string `json:"reason,omitempty" jsonschema:"why, for the operators"`
	}
)

// mcpRequester is who asks where an agent does.
const mcpRequester = "agent"

func addRequests(a *app, s *mcp.Server, b *jetstream.Bus) {
	cordon := &mcp.Tool{Name: "cordon", Description: "Cordon or drain a cluster, or end that, as spokewire cordon, drain --wait=false and uncordon do"}
	addTool(a, s, cordon, func(ctx context.Context, in mcpCordon) (any, error) {
		spec := schemas.CordonSpec{State: in.State, By: mcpRequester, Reason: in.Reason}
		if in.State == schemas.CordonLifted {
			return uncordon(ctx, b, in.Cluster, spec)
		}
		if in.Cluster == "" {
			return nil, errors.New("cluster is empty: name one")
		}
		if _, err := listed(ctx, b, clustersResource(), in.Cluster); err != nil {
			return nil, err
		}
		return putCordon(ctx, b, in.Cluster, spec)
	})
	rebalance := &mcp.Tool{Name: "rebalance", Description: "Decide a Placement once as if nothing were selected, within its change budget"}
	addTool(a, s, rebalance, func(ctx context.Context, in mcpRebalance) (any, error) {
		r := &rebalancing{by: mcpRequester, reason: in.Reason, wait: true, validFor: defaultRebalance}
		return r.run(ctx, b, in.Placement)
	})
}
