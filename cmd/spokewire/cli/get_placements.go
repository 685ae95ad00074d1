package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/manifest"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func placementsResource() resource[inventory.Placement] {
	return resource[inventory.Placement]{
		use:     "placements",
		short:   "Placements, with the clusters selected for them",
		watches: placementWatches,
		list:    inventory.Placements,
		is: func(p *inventory.Placement, text string) bool {
			namespace, name, err := parsePlacement(text)
			return err == nil && p.Namespace == namespace && p.Name == name
		},
		absent:  elsewhere,
		columns: []string{"PLACEMENT", "MODE", "SCHEDULER", "SELECTED", "CAUSE", "AGE", "RECEIPT", "LAG"},
		row:     placementRow,
	}
}

// elsewhere says which other namespaces have a Placement of a name that was
// given without one.
func elsewhere(all []inventory.Placement, text string) string {
	var others []string
	for i := range all {
		if all[i].Name == text {
			others = append(others, all[i].Namespace+"/"+all[i].Name)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("there is %s, and a name alone is one in namespace %s; ", strings.Join(others, ", "), manifest.DefaultNamespace)
}

// placementWatches are for all Placements, for one, or for all of a name: a
// name alone is one in the default namespace, but if there is none, those
// elsewhere are for the error.
func placementWatches(text string) ([]events.Watch, error) {
	object := ".*.*"
	if text != "" {
		namespace, name, err := parsePlacement(text)
		if err != nil {
			return nil, err
		}
		if namespace = events.EncodeToken(namespace); !strings.Contains(text, "/") {
			namespace = "*"
		}
		object = "." + namespace + "." + events.EncodeToken(name)
	}
	watch := func(stream, family string, more ...string) events.Watch {
		w := events.Watch{Stream: stream}
		for _, kind := range append(more, events.KindPlacement) {
			w.Subjects = append(w.Subjects, "sw."+family+"."+kind+object)
		}
		return w
	}
	return []events.Watch{
		watch(events.StreamHub, events.FamilyHub),
		watch(events.StreamConfig, events.FamilyConfig),
		watch(events.StreamDecisions, events.FamilyDecision, events.KindShadow),
		watch(events.StreamReceipts, events.FamilyReceipt),
	}, nil
}

// readPlacement reads what there is of a Placement, NAMESPACE/NAME or NAME,
// and what more watches cover.
func readPlacement(ctx context.Context, b bus, text string, more ...events.Watch) (namespace, name string, _ *inventory.State, err error) {
	if namespace, name, err = parsePlacement(text); err != nil {
		return "", "", nil, err
	}
	watches, err := placementWatches(text)
	if err != nil {
		return "", "", nil, err
	}
	state, err := read(ctx, b, append(watches, more...)...)
	return namespace, name, state, err
}

func placementRow(p *inventory.Placement, now time.Time) []string {
	mode := p.Mode
	if a := p.Agreement; a != nil {
		mode += map[bool]string{true: ", agrees", false: ", differs"}[a.Full()]
	}
	if p.Deleting {
		mode += ", deleting"
	}
	row := make([]string, 8)
	row[0], row[1] = p.Namespace+"/"+p.Name, mode
	if d := p.Decision; d != nil {
		row[2], row[3], row[4], row[5] = d.Scheduler, placement.Selected(d.PlacementDecision), d.Cause, age(now, d.ReceivedAt)
		if placement.Misconfiguration(d.PlacementDecision) != "" {
			row[4] += ", misconfigured"
		}
	}
	switch r := p.Receipt; {
	case r != nil && r.Outcome == schemas.OutcomeUnchanged:
		// The bridge looked again, however long after the event.
		row[6] = r.Outcome
	case r != nil:
		row[6], row[7] = r.Outcome, millis(r.LagMillis)
	case p.Waiting:
		row[6] = "waiting"
	}
	return row
}
