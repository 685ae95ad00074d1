package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/checkup"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

func listing[T any](t *testing.T, b bus, r resource[T], name string) string {
	t.Helper()
	watches, err := r.watches(name)
	if err != nil {
		t.Fatal(err)
	}
	state, err := read(t.Context(), b, watches...)
	if err != nil {
		t.Fatal(err)
	}
	if bad := state.Unreadable(); len(bad) > 0 {
		t.Fatal(bad)
	}
	items, err := r.named(state, name)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.write(&out, items, state.Now()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTables(t *testing.T) {
	t.Parallel()
	everyCluster, oneCluster := "", "spoke-1"
	tests := map[string]func(*testing.T, *eventstest.Bus) string{
		"clusters": func(t *testing.T, b *eventstest.Bus) string {
			return listing(t, b, clustersResource(), "")
		},
		"cluster": func(t *testing.T, b *eventstest.Bus) string {
			return listing(t, b, clustersResource(), "lab.9")
		},
		"scorers": func(t *testing.T, b *eventstest.Bus) string {
			return listing(t, b, scorersResource(), "")
		},
		"scores": func(t *testing.T, b *eventstest.Bus) string {
			return listing(t, b, scoresResource(&everyCluster), "")
		},
		"scores_of_cluster": func(t *testing.T, b *eventstest.Bus) string {
			return listing(t, b, scoresResource(&oneCluster), "")
		},
		"placements": func(t *testing.T, b *eventstest.Bus) string {
			return listing(t, b, placementsResource(), "")
		},
		"placement": func(t *testing.T, b *eventstest.Bus) string {
			return listing(t, b, placementsResource(), "team-a/wanted")
		},
		"dead": func(t *testing.T, b *eventstest.Bus) string {
			all := false
			return listing(t, b, deadResource(&all), "")
		},
		"doctor": func(t *testing.T, b *eventstest.Bus) string {
			var out strings.Builder
			a := &app{timeout: 20 * time.Second}
			if err := writeFindings(&out, checkup.Check(a.examine(t.Context(), settled{b}, ""))); err != nil {
				t.Fatal(err)
			}
			return out.String()
		},
	}
	for name, show := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name+".txt", show(t, fleet(t)))
		})
	}
}

// settled is a bus in memory, which has the streams as they are declared.
type settled struct{ *eventstest.Bus }

func (s settled) Inspect(context.Context, events.Stream) (jetstream.Inspection, error) {
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return jetstream.Inspection{ServerTime: noon, Asked: noon, Answered: noon}, nil
}

func (s settled) MaxPayload() int64 { return eventstest.DefaultMaxPayload }

func TestExplanations(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ placement, cluster string }{
		"explain":                {placement: "default/train"},
		"explain_native":         {placement: "serve"},
		"explain_cluster":        {placement: "default/train", cluster: "spoke-2"},
		"explain_runner_up":      {placement: "default/train", cluster: "spoke-1"},
		"explain_rejected":       {placement: "default/train", cluster: "spoke-3"},
		"explain_unscored":       {placement: "default/train", cluster: "lab.9"},
		"explain_native_cluster": {placement: "default/serve", cluster: "spoke-1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, err := explainPlacement(t.Context(), fleet(t), tt.placement, tt.cluster)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := writeExplained(&out, x); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", out.String())
		})
	}
}

func TestExplainSaysWhyThereIsNothing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ placement, cluster, want string }{
		"no such Placement":    {"default/nothing", "", "Placement default/nothing: no such Placement: spokewire get placements"},
		"in another namespace": {"wanted", "", "Placement default/wanted: no such Placement: there is team-a/wanted, and a name alone is one in namespace default; spokewire get placements"},
		"no such cluster":      {"default/train", "nowhere", "cluster nowhere: no such cluster: neither the hub nor a metric nor a score speaks of it; spokewire get clusters"},
		"refused":              {"team-a/wanted", "", `the hub refused it: namespaces "team-a" not found`},
		"three parts":          {"a/b/c", "", "is not a name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := explainPlacement(t.Context(), fleet(t), tt.placement, tt.cluster)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestWatchRows(t *testing.T) {
	t.Parallel()
	for _, v := range views() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			w := watching{app: &app{output: outputTable}, view: v, columns: table.New(&out, v.columns...)}
			err := fleet(t).Watch(t.Context(), events.Watch{Stream: v.stream}, func(u events.Update) error {
				// Rows show local time, which is not the same everywhere.
				u.Message.ReceivedAt = time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)
				if err := w.take(&out, u); err != nil {
					return err
				}
				if u.Kind == events.Synced {
					return errStop
				}
				return nil
			})
			if !errors.Is(err, errStop) {
				t.Fatal(err)
			}
			golden(t, "watch_"+v.name+".txt", out.String())
		})
	}
}
