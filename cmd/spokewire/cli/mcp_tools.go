package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spokewire/spokewire/pkg/ask"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// maxToolText bounds one answer, which an agent has to read, in bytes.
const maxToolText = 256 << 10

type (
	mcpNamed struct {
		Name string `json:"name,omitempty" jsonschema:"only the one of this name"`
	}
	mcpCluster struct {
		Cluster string `json:"cluster,omitempty" jsonschema:"only those of this cluster"`
	}
	mcpPlacement struct {
		Placement string `json:"placement,omitempty" jsonschema:"only this Placement, as NAMESPACE/NAME"`
	}
	mcpExplain struct {
		Placement string `json:"placement" jsonschema:"the Placement, as NAMESPACE/NAME or NAMESPACE/NAME@SEQUENCE of an earlier decision"`
		Cluster   string `json:"cluster" jsonschema:"the cluster to explain"`
	}
	mcpReplay struct {
		Placement string `json:"placement" jsonschema:"the Placement, as NAMESPACE/NAME or NAMESPACE/NAME@SEQUENCE of an earlier decision"`
	}
	mcpWhatIf struct {
		Placement string   `json:"placement" jsonschema:"the Placement, as NAMESPACE/NAME"`
		Metrics   []string `json:"metrics,omitempty" jsonschema:"as CLUSTER:SERIES=VALUE, for instance spoke-1:gpu_free=0"`
		Scores    []string `json:"scores,omitempty" jsonschema:"as CLUSTER:SCORER=N or CLUSTER:SCORER/ITEM=N from -100 to 100, or =none"`
		Taints    []string `json:"taints,omitempty" jsonschema:"as CLUSTER:KEY=VALUE:EFFECT"`
		Untaints  []string `json:"untaints,omitempty" jsonschema:"as CLUSTER or CLUSTER:KEY"`
		Remove    []string `json:"remove,omitempty" jsonschema:"clusters that go"`
		Add       []string `json:"add,omitempty" jsonschema:"clusters that come: NAME, or NAME=LIKE for one like another"`
		Cordon    []string `json:"cordon,omitempty" jsonschema:"clusters that take nothing new"`
		Drain     []string `json:"drain,omitempty" jsonschema:"clusters that are drained"`
		Uncordon  []string `json:"uncordon,omitempty" jsonschema:"clusters that are cordoned or drained no more"`
		Rebalance bool     `json:"rebalance,omitempty" jsonschema:"decide as if nothing were selected, but for the change budget"`
	}
	mcpApply struct {
		Manifest string `json:"manifest" jsonschema:"YAML of a Scorer or a Placement"`
	}
)

// mcpServer has the tools. Every call reads the bus anew.
func (a *app) mcpServer(b *jetstream.Bus, writes bool) *mcp.Server {
	info, _ := debug.ReadBuildInfo()
	s := mcp.NewServer(&mcp.Implementation{Name: "spokewire", Version: newBuild(info).Version}, nil)
	client := ask.Client{Bus: b}
	tool(a, s, "clusters", "Clusters with their labels, claims, taints, cordons and how old their metrics are", func(ctx context.Context, in mcpNamed) (any, error) {
		return listed(ctx, b, clustersResource(), in.Name)
	})
	tool(a, s, "scores", "Scores of clusters, with what they were computed from", func(ctx context.Context, in mcpCluster) (any, error) {
		return listed(ctx, b, scoresResource(&in.Cluster), "")
	})
	tool(a, s, "decisions", "The last decision of each Placement, with what became of it on the hub", func(ctx context.Context, in mcpPlacement) (any, error) {
		return listed(ctx, b, placementsResource(), in.Placement)
	})
	tool(a, s, "explain", "Why a decision did or did not select a cluster, and what would have to change", func(ctx context.Context, in mcpExplain) (any, error) {
		namespace, name, sequence, err := parseDecision(in.Placement)
		if err != nil {
			return nil, err
		}
		return client.Explain(ctx, schemas.ExplainAsk{Namespace: namespace, Name: name, Sequence: sequence, Cluster: in.Cluster})
	})
	tool(a, s, "what_if", "What would be decided now if metrics, scores, taints, cordons or clusters were otherwise; writes nothing", func(ctx context.Context, in mcpWhatIf) (any, error) {
		q, err := in.ask()
		if err != nil {
			return nil, err
		}
		return client.WhatIf(ctx, *q)
	})
	tool(a, s, "replay", "Whether a decision follows from its inputs, made again from the log", func(ctx context.Context, in mcpReplay) (any, error) {
		namespace, name, sequence, err := parseDecision(in.Placement)
		if err != nil {
			return nil, err
		}
		return client.Replay(ctx, schemas.ReplayAsk{Namespace: namespace, Name: name, Sequence: sequence})
	})
	if writes {
		addApply(a, s, b)
		addRequests(a, s, b)
	}
	return s
}

// ask refuses file names, which are for people at a terminal.
func (in mcpWhatIf) ask() (*schemas.WhatIfAsk, error) {
	h := hypotheses{metrics: in.Metrics, scores: in.Scores, taints: in.Taints, untaints: in.Untaints, removes: in.Remove, adds: in.Add,
		cordons: in.Cordon, drains: in.Drain, uncordons: in.Uncordon, rebalance: in.Rebalance}
	for _, name := range in.Add {
		if isFile(name) {
			return nil, fmt.Errorf("add %q: want NAME or NAME=LIKE", name)
		}
	}
	return h.ask(in.Placement)
}

// tool adds one that reads.
func tool[In any](a *app, s *mcp.Server, name, description string, call func(context.Context, In) (any, error)) {
	addTool(a, s, &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, call)
}

func addTool[In any](a *app, s *mcp.Server, t *mcp.Tool, call func(context.Context, In) (any, error)) {
	mcp.AddTool(s, t, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		ctx, cancel := context.WithTimeout(ctx, a.timeout)
		defer cancel()
		found, err := call(ctx, in)
		if err != nil {
			return nil, nil, a.answered(err)
		}
		text, err := json.Marshal(found)
		if err == nil && len(text) > maxToolText {
			err = fmt.Errorf("the answer has %d bytes, at most %d are given: ask for less, by name", len(text), maxToolText)
		}
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil, nil
	})
}

// listed is what get lists.
func listed[T any](ctx context.Context, b bus, r resource[T], name string) (any, error) {
	watches, err := r.watches(name)
	if err != nil {
		return nil, err
	}
	state, err := read(ctx, b, watches...)
	if err != nil {
		return nil, err
	}
	return r.named(state, name)
}

func addApply(a *app, s *mcp.Server, b *jetstream.Bus) {
	t := &mcp.Tool{Name: "apply", Description: "Ask for a Scorer or a Placement over the bus, as spokewire apply does"}
	addTool(a, s, t, func(ctx context.Context, in mcpApply) (any, error) {
		objects, err := parseManifest([]byte(in.Manifest))
		if err != nil {
			return nil, err
		}
		if len(objects) == 0 {
			return nil, errors.New("the manifest has no object")
		}
		var out bytes.Buffer
		if err := a.applyAll(ctx, &out, b, objects, true); err != nil {
			return nil, err
		}
		return out.String(), nil
	})
}
