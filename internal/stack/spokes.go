package stack

import (
	"context"
	"fmt"
	"strings"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/pkg/events"
)

// startSpokes runs each cluster's workload and its collector.
func (s *Stack) startSpokes(ctx context.Context) error {
	for i := range s.options.spokes() {
		if err := s.startSpoke(ctx, clusterName(i+1)); err != nil {
			return fmt.Errorf("%s: %w", clusterName(i+1), err)
		}
	}
	return s.waitForMetrics(ctx)
}

// waitForMetrics returns once each spoke's first snapshot is on the bus, and
// the spoke itself as the hub has it.
func (s *Stack) waitForMetrics(ctx context.Context) error {
	ctx, cancel := pause.Within(ctx, readyTimeout)
	defer cancel()
	bus, err := s.connect(ctx, access.Operator, "")
	if err != nil {
		return err
	}
	defer bus.Close()
	for _, cluster := range s.Clusters() {
		err := waitForEvent(ctx, bus, events.StreamMetrics, events.MetricSubject(cluster, spokeSource))
		if err == nil && s.options.Hub != None {
			err = waitForEvent(ctx, bus, events.StreamHub, events.HubSubject(events.KindCluster, "", cluster))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Stack) startSpoke(ctx context.Context, cluster string) error {
	address, err := child.FreeAddress(ctx)
	if err != nil {
		return err
	}
	if err := s.start(s.self(cluster, nil, "spoke", "--address", address, "--listen", "")); err != nil {
		return err
	}
	if err := waitForListener(ctx, address); err != nil {
		return err
	}
	s.spokeURLs[cluster] = "http://" + address
	env, err := s.natsEnv(access.SpokeUser(cluster), cluster)
	if err != nil {
		return err
	}
	if detour := s.options.Detours.Spoke; detour != nil {
		url := env[0]
		env[0] = strings.Replace(url, s.natsHost(), detour(cluster, s.natsHost()), 1)
	}
	args := []string{
		"collector", "--cluster", cluster, "--source", spokeSource, "--target", "http://" + address + "/metrics",
		"--interval", s.options.Interval.String(), "--outbox", s.files.outbox(cluster), "--listen", "127.0.0.1:0",
		"--scoring-host", "127.0.0.1", "--scoring-host", "localhost",
	}
	if s.options.Prometheus {
		prometheus, err := s.startPrometheus(ctx, cluster, address)
		if err != nil {
			return err
		}
		args = append(args, "--scoring-prometheus", prometheus)
	}
	return s.start(s.self("collector-"+cluster, env, args...))
}
