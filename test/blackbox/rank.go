package blackbox

import (
	"context"
	"fmt"
)

func clusters() []string { return []string{"spoke-1", "spoke-2", "spoke-3"} }

// publish sends one metric event of a cluster with the stock nats client, as
// the README has it.
func (s *suite) publish(ctx context.Context, cluster, source, payload string, flags ...string) error {
	args := append([]string{"pub", "sw.metric." + cluster + "." + source, payload,
		"-H", "ce-specversion:1.0", "-H", "ce-id:" + id(), "-H", "ce-type:dev.spokewire.metrics.observed.v1",
		"-H", "ce-source:/clusters/" + cluster + "/sources/" + source}, flags...)
	_, err := s.nats(ctx, args...)
	return err
}

// rank publishes values that put one cluster before the others. What the
// server has not acknowledged is sent again.
func (s *suite) rank(ctx context.Context, first string) error {
	s.turn++
	for _, cluster := range clusters() {
		value := 100 + s.turn
		if cluster == first {
			value = 900 + s.turn
		}
		payload := fmt.Sprintf(`{"samples":[{"name":%q,"value":%d}]}`, metric, value)
		if err := eventually(ctx, recovery, func(ctx context.Context) error {
			return s.publish(ctx, cluster, name, payload, "--jetstream")
		}); err != nil {
			return err
		}
	}
	return nil
}

// next is a cluster that the hub does not select now.
func (s *suite) next(ctx context.Context) (string, error) {
	var now []string
	err := eventually(ctx, recovery, func(ctx context.Context) (err error) {
		now, err = s.hub.selected(ctx, name)
		return err
	})
	if err != nil {
		return "", err
	}
	for _, cluster := range clusters() {
		if len(now) == 1 && now[0] != cluster {
			return cluster, nil
		}
	}
	return "", fmt.Errorf("the hub selects %v, want one of %v", now, clusters())
}

// move ranks another cluster first, and waits until the hub selects it.
func (s *suite) move(ctx context.Context) error {
	to, err := s.next(ctx)
	if err != nil {
		return err
	}
	if err := s.rank(ctx, to); err != nil {
		return err
	}
	return eventually(ctx, recovery, func(ctx context.Context) error { return s.hub.selects(ctx, name, to) })
}
