package blackbox

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// The checks' own Scorer and Placements.
const (
	name       = "blackbox"
	nativeName = "blackbox-native"
	namespace  = "default"
	metric     = "blackbox_rank"
)

const manifests = `
apiVersion: spokewire.dev/v1alpha1
kind: Scorer
metadata: {name: blackbox}
spec: {cel: 'linear(metric("blackbox_rank"), 0, 1000)', validFor: 30m}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: blackbox
  namespace: default
  annotations: {cluster.open-cluster-management.io/experimental-scheduling-disable: "true"}
spec:
  numberOfClusters: 1
  prioritizerPolicy:
    mode: Exact
    configurations: [{scoreCoordinate: {type: AddOn, addOn: {resourceName: blackbox, scoreName: blackbox}}}]
`

const nativeManifest = `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: blackbox-native, namespace: default}
spec:
  numberOfClusters: 1
  prioritizerPolicy:
    mode: Exact
    configurations: [{scoreCoordinate: {type: AddOn, addOn: {resourceName: blackbox, scoreName: blackbox}}}]
`

func (s *suite) collectorsReport(ctx context.Context) error {
	return eventually(ctx, recovery, func(ctx context.Context) error {
		var list []struct {
			Name    string
			OnHub   bool
			Sources []struct{ Name string }
		}
		if err := s.get(ctx, "clusters", &list); err != nil {
			return err
		}
		reporting := 0
		for _, c := range list {
			if c.OnHub && len(c.Sources) > 0 {
				reporting++
			}
		}
		if reporting != len(clusters()) {
			return fmt.Errorf("%d clusters are on the hub and report, want %d: %+v", reporting, len(clusters()), list)
		}
		return nil
	})
}

func (s *suite) publishWithNATS(ctx context.Context) error {
	for i, cluster := range clusters() {
		if err := s.publish(ctx, cluster, name, fmt.Sprintf(`{"samples":[{"name":%q,"value":%d}]}`, metric, 100*(i+1))); err != nil {
			return err
		}
	}
	return eventually(ctx, settle, func(ctx context.Context) error {
		for i, cluster := range clusters() {
			out, err := s.nats(ctx, "stream", "get", "SW_METRICS", "--last-for", "sw.metric."+cluster+"."+name)
			if err != nil {
				return err
			}
			if want := strconv.Itoa(100 * (i + 1)); !strings.Contains(out, want) {
				return fmt.Errorf("the stream has %q of %s, want %s", out, cluster, want)
			}
		}
		return nil
	})
}

func (s *suite) decide(ctx context.Context) error {
	if err := s.apply(ctx, manifests); err != nil {
		return err
	}
	return eventually(ctx, settle, func(ctx context.Context) error { return s.hub.selects(ctx, name, "spoke-3") })
}

func (s *suite) apply(ctx context.Context, manifests string) error {
	c := s.command(ctx, s.target.Spokewire, "apply", "-f", "-")
	c.Stdin = strings.NewReader(manifests)
	_, err := run(c)
	return err
}

func (s *suite) scoresOnHub(ctx context.Context) error {
	return eventually(ctx, settle, func(ctx context.Context) error {
		for i, cluster := range clusters() {
			got, err := s.hub.score(ctx, cluster)
			if err != nil {
				return err
			}
			if want := int32(10 * (i + 1)); got != want {
				return fmt.Errorf("the hub's score of %s is %d, want %d", cluster, got, want)
			}
		}
		return nil
	})
}

// decided is a line of `watch decisions -o json`.
type decided struct {
	Event struct {
		Data struct {
			Clusters []struct{ Name string }
			Cause    string
		}
	}
}

// watch follows the decisions from before the change until after it.
func (s *suite) watch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	c := s.command(ctx, s.target.Spokewire, "watch", "decisions", "--placement", namespace+"/"+name, "-o", "json", "--count", "2", "--timeout", settle.String())
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		cancel()
		return err
	}
	defer func() {
		cancel()
		_ = c.Wait() // it has shown what it should, or was told to end
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 4<<20)
	for i, want := range []string{"spoke-3", "spoke-1"} {
		if !lines.Scan() {
			return fmt.Errorf("watch ended after %d decisions: %w", i, errOr(lines.Err(), io.EOF))
		}
		var d decided
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return err
		}
		if got := d.Event.Data.Clusters; len(got) != 1 || got[0].Name != want {
			return fmt.Errorf("decision %d selects %v, want %s", i+1, got, want)
		}
		if i == 0 {
			if err := s.rank(ctx, "spoke-1"); err != nil {
				return err
			}
		}
	}
	return eventually(ctx, settle, func(ctx context.Context) error { return s.hub.selects(ctx, name, "spoke-1") })
}

func (s *suite) subscribeWithNATS(ctx context.Context) error {
	out, err := s.nats(ctx, "stream", "get", "SW_DECISIONS", "--last-for", "sw.decision.placement."+namespace+"."+name)
	if err != nil {
		return err
	}
	if !strings.Contains(out, `"clusters":[{"name":"spoke-1"`) {
		return fmt.Errorf("the last decision of SW_DECISIONS is %s, want spoke-1", out)
	}
	return nil
}

func (s *suite) explain(ctx context.Context) error {
	out, err := s.spokewire(ctx, "explain", "placement", namespace+"/"+name)
	if err != nil {
		return err
	}
	for _, want := range []string{"Selected:     spoke-1=", "AddOn/blackbox/blackbox", "RunnerUp", "ScoreChanged", "Applied"} {
		if !strings.Contains(out, want) {
			return fmt.Errorf("explain does not say %q:\n%s", want, out)
		}
	}
	return nil
}

// native has OCM's controller decide beside ours, and move too.
func (s *suite) native(ctx context.Context) error {
	if err := s.apply(ctx, nativeManifest); err != nil {
		return err
	}
	for range 2 {
		to, err := s.next(ctx)
		if err != nil {
			return err
		}
		if err := s.rank(ctx, to); err != nil {
			return err
		}
		if err := eventually(ctx, recovery, func(ctx context.Context) error {
			if err := s.hub.selects(ctx, nativeName, to); err != nil {
				return err
			}
			return s.hub.selects(ctx, name, to)
		}); err != nil {
			return err
		}
	}
	out, err := s.spokewire(ctx, "explain", "placement", namespace+"/"+nativeName)
	if err == nil && !strings.Contains(out, "native") {
		err = fmt.Errorf("explain does not say that the decision is native:\n%s", out)
	}
	return err
}
