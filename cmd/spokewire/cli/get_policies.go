package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func policiesResource() resource[inventory.Policy] {
	return resource[inventory.Policy]{
		use:   "placementpolicies",
		short: "The settings of flap control for Placements that have none of their own",
		watches: func(string) ([]events.Watch, error) {
			return []events.Watch{{Stream: events.StreamConfig, Subjects: []string{"sw.config." + events.KindPolicy + ".*.*"}}}, nil
		},
		list:    inventory.Policies,
		is:      func(p *inventory.Policy, name string) bool { return p.Name == name },
		columns: []string{"NAME", "DEAD BAND", "WINDOW", "DECISIVE LEAD", "BUDGET", "COOLDOWN", "DWELL", "STALE", "AGE"},
		row:     policyRow,
	}
}

func policyRow(p *inventory.Policy, now time.Time) []string {
	budget := ""
	if b := p.ChangeBudget; b != nil && b.Moves > 0 {
		budget = fmt.Sprintf("%d/%s", b.Moves, b.Interval)
	}
	stale := p.StalePolicy
	if p.StaleGrace != nil {
		stale = fmt.Sprintf("%s after %s", cmp.Or(stale, "hold"), p.StaleGrace)
	}
	return []string{
		p.Name, points(p.DeadBand), lasting(p.StabilisationWindow), points(p.DecisiveLead), budget,
		lasting(p.Cooldown), lasting(p.MinimumDwell), stale, age(now, p.AppliedAt),
	}
}

// points and lasting are empty for a setting that is off.
func points(n *int64) string {
	if n == nil || *n == 0 {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func lasting(d *schemas.Duration) string {
	if d == nil || *d == 0 {
		return ""
	}
	return d.String()
}
