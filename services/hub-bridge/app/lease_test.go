package app_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/services/hub-bridge/app"
)

// A bridge that can never have its Lease is not ready, and says what to do
// until somebody has done it.
func TestLeaseOutOfReach(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare, mend func(t *testing.T, e *env)
		want          string
	}{
		"no such namespace": {
			prepare: func(_ *testing.T, e *env) { e.options.Config = theHub.Admin() },
			mend:    func(t *testing.T, e *env) { newNamespace(t, e.options.Namespace) },
			want:    "create the namespace",
		},
		"no right to it": {
			prepare: func(t *testing.T, e *env) { newNamespace(t, e.options.Namespace) },
			mend:    func(t *testing.T, e *env) { grantLease(t, e.options.Namespace) },
			want:    "bind the Role spokewire-hub-bridge",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := prepare(t)
			e.options.Namespace = "lease-" + rand.String(8)
			tt.prepare(t, e)
			runtime := processtest.Runtime(t)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- app.RunOn(ctx, e.bus, e.options, runtime) }()
			defer func() {
				cancel()
				<-done
			}()
			eventually(t, "readiness names the remedy", func() error {
				err := runtime.Health.CheckReady()
				if err == nil {
					return errors.New("it says it is ready")
				}
				for _, part := range []string{"lease: ", e.options.Namespace, tt.want, "--leader-elect=false"} {
					if !strings.Contains(err.Error(), part) {
						return fmt.Errorf("%w, which does not name %q", err, part)
					}
				}
				return nil
			})
			tt.mend(t, e)
			eventually(t, "the bridge is ready", runtime.Health.CheckReady)
		})
	}
}

// A replica that waits says for whom, in its readiness and as a metric, and
// leads once the other one is gone.
func TestWaitingForTheLease(t *testing.T) {
	t.Parallel()
	first := start(t, func(o *app.Options) { o.Identity = "first" })
	eventually(t, "the first leads", func() error { return first.says("held by this replica", 1) })
	second := start(t, func(o *app.Options) { o.Identity, o.Namespace = "second", first.options.Namespace })
	eventually(t, "the second names the first", func() error {
		return second.says("held by first (Lease "+first.options.Namespace+"/"+app.LeaseName+"), which writes to the hub; this replica, second, waits", 0)
	})
	first.stop()
	eventually(t, "the second leads", func() error { return second.says("held by this replica", 1) })
}

// says returns an error unless the bridge's readiness names the holder so,
// and its metric has that value.
func (e *env) says(detail string, leading float64) error {
	if got := e.runtime.Health.Details()["lease"]; got != detail {
		return fmt.Errorf("it says %q, want %q", got, detail)
	}
	families, err := e.runtime.Metrics.Gather()
	if err != nil {
		return err
	}
	for _, f := range families {
		if f.GetName() == "spokewire_hub_bridge_leading" && f.GetMetric()[0].GetGauge().GetValue() == leading {
			return nil
		}
	}
	return fmt.Errorf("the metric is not %g", leading)
}
