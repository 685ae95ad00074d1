package cli

import (
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
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
		columns: []string{"PLACEMENT", "MODE", "SCHEDULER", "SELECTED", "CAUSE", "AGE", "RECEIPT", "LAG"},
		row:     placementRow,
	}
}

func placementWatches(text string) ([]events.Watch, error) {
	object := ".*.*"
	if text != "" {
		namespace, name, err := parsePlacement(text)
		if err != nil {
			return nil, err
		}
		object = "." + events.EncodeToken(namespace) + "." + events.EncodeToken(name)
	}
	watch := func(stream, family string) events.Watch {
		return events.Watch{Stream: stream, Subjects: []string{"sw." + family + "." + events.KindPlacement + object}}
	}
	return []events.Watch{
		watch(events.StreamHub, events.FamilyHub),
		watch(events.StreamConfig, events.FamilyConfig),
		watch(events.StreamDecisions, events.FamilyDecision),
		watch(events.StreamReceipts, events.FamilyReceipt),
	}, nil
}

func placementRow(p *inventory.Placement, now time.Time) []string {
	mode := p.Mode
	if p.Deleting {
		mode += ", deleting"
	}
	row := make([]string, 8)
	row[0], row[1] = p.Namespace+"/"+p.Name, mode
	if d := p.Decision; d != nil {
		row[2], row[3], row[4], row[5] = d.Scheduler, selected(d.PlacementDecision), d.Cause, age(now, d.ReceivedAt)
	}
	switch r := p.Receipt; {
	case r != nil:
		row[6], row[7] = r.Outcome, millis(r.LagMillis)
	case p.Waiting:
		row[6] = "waiting"
	}
	return row
}
