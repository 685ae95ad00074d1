package faults

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

// refused is the end of the name of what every service counts bad input by.
const refused = "_dead_letters_total"

// refusals is how many messages a service has refused.
func refusals(t *testing.T, metrics prometheus.Gatherer) int {
	t.Helper()
	families, err := metrics.Gather()
	must(t, err)
	return totalOf(families)
}

func totalOf(families []*dto.MetricFamily) int {
	total := 0.0
	for _, family := range families {
		for _, series := range family.GetMetric() {
			if strings.HasSuffix(family.GetName(), refused) {
				total += series.GetCounter().GetValue()
			}
		}
	}
	return int(total)
}

// count is what a process had counted when a round began.
type count struct{ pid, refused int }

// counts are those of the hub services, but for those that are starting still:
// they read the last event of each subject, and none that it has overtaken.
func (w *world) counts(t *testing.T) map[string]count {
	t.Helper()
	found := map[string]count{}
	for _, name := range w.services() {
		pid := w.stack.PID(name)
		if pid == 0 {
			continue
		}
		if _, err := w.ask(t, name, "/readyz"); err != nil {
			continue
		}
		if n, err := w.refusals(t, name); err == nil {
			found[name] = count{pid, n}
		}
	}
	return found
}

// ask returns what a process answers at path, and an error unless that is OK.
func (w *world) ask(t *testing.T, name, path string) ([]byte, error) {
	t.Helper()
	client := http.Client{Timeout: 5 * time.Second}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.stack.Health(name)+path, nil)
	must(t, err)
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s of %s: %s", path, name, answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// refusals asks a process how many messages it has refused.
func (w *world) refusals(t *testing.T, name string) (int, error) {
	t.Helper()
	text, err := w.ask(t, name, "/metrics")
	if err != nil {
		return 0, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	byName, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return 0, fmt.Errorf("metrics of %s: %w", name, err)
	}
	var families []*dto.MetricFamily
	for _, family := range byName {
		families = append(families, family)
	}
	return totalOf(families), nil
}

// counted checks those processes that have run since the round began. Of
// bridges only the leading one looks, so they have counted together, if all of
// them have run.
func (r *round) counted(t *testing.T, evidence fold.Evidence) []fold.Violation {
	t.Helper()
	var found []fold.Violation
	bridges, away := 0, false
	for _, name := range r.services() {
		service, before := serviceOf(name), r.before[name]
		if before.pid == 0 || r.stack.PID(name) != before.pid {
			away = away || service == access.HubBridge
			continue
		}
		now, err := r.refusals(t, name)
		switch {
		case err != nil:
			found = append(found, fold.Violation{Invariant: 8, Text: err.Error()})
		case service == access.HubBridge:
			bridges += now - before.refused
		default:
			found = append(found, fold.Counted(evidence, service, r.started, now-before.refused)...)
		}
	}
	if away {
		return found
	}
	return append(found, fold.Counted(evidence, access.HubBridge, r.started, bridges)...)
}

// serviceOf is the service that a replica is one of.
func serviceOf(name string) string {
	for _, service := range access.Services() {
		if name == service || strings.HasPrefix(name, service+"-") {
			return service
		}
	}
	return name
}
