package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/manifest"
	"github.com/spokewire/spokewire/internal/sampletext"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// hypotheses are the flags of whatif.
type hypotheses struct {
	metrics, scores, taints, untaints, removes, adds []string
	cordons, drains, uncordons                       []string
	spec                                             string
	force, rebalance                                 bool
}

func (h *hypotheses) addFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&h.metrics, "metric", nil, "CLUSTER:SERIES=VALUE, for instance spoke-1:gpu_free=0")
	fs.StringArrayVar(&h.scores, "score", nil, "CLUSTER:SCORER[/ITEM]=N, or =none")
	fs.StringArrayVar(&h.taints, "taint", nil, "CLUSTER:KEY[=VALUE]:EFFECT")
	fs.StringArrayVar(&h.untaints, "untaint", nil, "CLUSTER, or CLUSTER:KEY")
	fs.StringArrayVar(&h.removes, "remove", nil, "CLUSTER")
	fs.StringArrayVar(&h.adds, "add", nil, "CLUSTER, CLUSTER=LIKE, or a file with a ManagedCluster")
	fs.StringArrayVar(&h.cordons, "cordon", nil, "CLUSTER")
	fs.StringArrayVar(&h.drains, "drain", nil, "CLUSTER")
	fs.BoolVar(&h.force, "force", false, "with --drain: also where no other cluster takes its place")
	fs.StringArrayVar(&h.uncordons, "uncordon", nil, "CLUSTER")
	fs.BoolVar(&h.rebalance, "rebalance", false, "as spokewire rebalance would have it")
	fs.StringVar(&h.spec, "spec", "", "file with a Placement")
}

// ask makes the question. Errors name the flag.
func (h *hypotheses) ask(placement string) (*schemas.WhatIfAsk, error) {
	namespace, name, err := parsePlacement(placement)
	if err != nil {
		return nil, err
	}
	q := &schemas.WhatIfAsk{Namespace: namespace, Name: name, Remove: h.removes, Rebalance: h.rebalance}
	for _, asked := range []struct {
		clusters []string
		state    string
	}{{h.cordons, schemas.CordonCordoned}, {h.drains, schemas.CordonDraining}, {h.uncordons, schemas.CordonLifted}} {
		for _, cluster := range asked.clusters {
			q.Cordon = append(q.Cordon, schemas.WhatIfCordon{Cluster: cluster, State: asked.state, Force: h.force && asked.state == schemas.CordonDraining})
		}
	}
	for _, step := range []struct {
		flag   string
		values []string
		take   func(*schemas.WhatIfAsk, string) error
	}{
		{"metric", h.metrics, takeMetric}, {"score", h.scores, takeScore}, {"taint", h.taints, takeTaint},
		{"untaint", h.untaints, takeUntaint}, {"add", h.adds, takeCluster},
	} {
		for _, value := range step.values {
			if err := step.take(q, value); err != nil {
				return nil, fmt.Errorf("--%s %q: %w", step.flag, value, err)
			}
		}
	}
	if h.spec != "" {
		if q.Placement, err = readSpec(h.spec, namespace, name); err != nil {
			return nil, fmt.Errorf("--spec: %w", err)
		}
	}
	return q, nil
}

func takeMetric(q *schemas.WhatIfAsk, text string) error {
	cluster, series, found := strings.Cut(text, ":")
	if !found || cluster == "" {
		return errors.New("want CLUSTER:SERIES=VALUE")
	}
	s, err := sampletext.ParseSeries(series)
	if err != nil {
		return err
	}
	q.Metrics = append(q.Metrics, schemas.WhatIfMetric{Cluster: cluster, Name: s.Name, Labels: s.Labels, Value: s.Value})
	return nil
}

func takeScore(q *schemas.WhatIfAsk, text string) error {
	cluster, rest, _ := strings.Cut(text, ":")
	name, number, found := strings.Cut(rest, "=")
	scorer, item, _ := strings.Cut(name, "/")
	if !found || cluster == "" || scorer == "" {
		return errors.New("want CLUSTER:SCORER=N or CLUSTER:SCORER/ITEM=N")
	}
	s := schemas.WhatIfScore{Cluster: cluster, Scorer: scorer, Item: item}
	if number != "none" {
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil || n < schemas.MinScore || n > schemas.MaxScore {
			return fmt.Errorf("the score is %q, want %d to %d, or none", number, schemas.MinScore, schemas.MaxScore)
		}
		value := int32(n)
		s.Value = &value
	}
	q.Scores = append(q.Scores, s)
	return nil
}

func takeTaint(q *schemas.WhatIfAsk, text string) error {
	parts := strings.Split(text, ":")
	if len(parts) != 3 || slices.Contains(parts, "") {
		return errors.New("want CLUSTER:KEY=VALUE:EFFECT, for instance spoke-1:maintenance:NoSelect")
	}
	key, value, _ := strings.Cut(parts[1], "=")
	q.Taint = append(q.Taint, schemas.WhatIfTaint{Cluster: parts[0], Taint: schemas.Taint{Key: key, Value: value, Effect: parts[2]}})
	return nil
}

func takeUntaint(q *schemas.WhatIfAsk, text string) error {
	cluster, key, _ := strings.Cut(text, ":")
	if cluster == "" {
		return errors.New("want CLUSTER or CLUSTER:KEY")
	}
	q.Untaint = append(q.Untaint, schemas.WhatIfUntaint{Cluster: cluster, Key: key})
	return nil
}

// isFile tells a file by a name that no cluster has.
func isFile(text string) bool {
	return strings.ContainsRune(text, filepath.Separator) || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(text))
}

func takeCluster(q *schemas.WhatIfAsk, text string) error {
	if isFile(text) {
		c, err := readCluster(text)
		if err != nil {
			return err
		}
		q.Add = append(q.Add, schemas.WhatIfCluster{Cluster: *c})
		return nil
	}
	name, like, _ := strings.Cut(text, "=")
	if name == "" {
		return errors.New("want CLUSTER, CLUSTER=LIKE or a file")
	}
	q.Add = append(q.Add, schemas.WhatIfCluster{Cluster: schemas.Cluster{Name: name}, Like: like})
	return nil
}

func readCluster(path string) (*schemas.Cluster, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var c clusterv1.ManagedCluster
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return nil, err
	}
	if c.Kind != "ManagedCluster" || c.Name == "" {
		return nil, fmt.Errorf("kind is %q and metadata.name %q, want a ManagedCluster with a name", c.Kind, c.Name)
	}
	return bridge.Cluster(&c), nil
}

func readSpec(path, namespace, name string) (*schemas.WhatIfPlacement, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	objects, err := manifest.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, o := range objects {
		p, isPlacement := o.Payload.(*schemas.PlacementRequest)
		if isPlacement && o.Namespace == namespace && o.Name == name {
			return &schemas.WhatIfPlacement{Spec: p.Spec, Annotations: p.Metadata.Annotations}, nil
		}
	}
	return nil, fmt.Errorf("%s has no Placement %s/%s", path, namespace, name)
}
