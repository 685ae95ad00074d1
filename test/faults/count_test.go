package faults

import (
	"fmt"
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

// counts are those of the hub services.
func (w *world) counts(t *testing.T) map[string]count {
	t.Helper()
	found := map[string]count{}
	for _, name := range w.services() {
		if pid := w.stack.PID(name); pid != 0 {
			if n, err := w.refusals(t, name); err == nil {
				found[name] = count{pid, n}
			}
		}
	}
	return found
}

// refusals asks a process how many messages it has refused.
func (w *world) refusals(t *testing.T, name string) (int, error) {
	t.Helper()
	client := http.Client{Timeout: 5 * time.Second}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.stack.Health(name)+"/metrics", nil)
	must(t, err)
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("metrics of %s: %s", name, answer.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	byName, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		return 0, fmt.Errorf("metrics of %s: %w", name, err)
	}
	var families []*dto.MetricFamily
	for _, family := range byName {
		families = append(families, family)
	}
	return totalOf(families), nil
}

// counted checks those processes that have run since the round began.
func (r *round) counted(t *testing.T, evidence fold.Evidence) []fold.Violation {
	t.Helper()
	var found []fold.Violation
	for name, before := range r.before {
		service := serviceOf(name)
		if r.stack.PID(name) != before.pid || service == access.HubBridge {
			continue // of two bridges only the leading one looks
		}
		now, err := r.refusals(t, name)
		if err != nil {
			found = append(found, fold.Violation{Invariant: 8, Text: err.Error()})
			continue
		}
		found = append(found, fold.Counted(evidence, service, r.started, now-before.refused)...)
	}
	return found
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
