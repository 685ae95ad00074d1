package fold

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/cloudevents/sdk-go/v2/types"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Gaps checks, part of invariant 1, that of each source which was cut off no
// snapshot is missing between the first that waited and the last that
// arrived: those of SW_BACKFILL and of SW_METRICS together have every
// sequence.
func Gaps(e Evidence) []Violation {
	type store struct{ cluster, source, epoch string }
	sequences, backfilled := map[store][]uint64{}, map[store]uint64{}
	for _, stream := range []string{events.StreamBackfill, events.StreamMetrics} {
		for _, m := range e[stream] {
			s, err := events.ParseSubject(m.Subject)
			if err != nil {
				continue
			}
			sequence, err := strconv.ParseUint(extension(m, events.ExtSequence), 10, 64)
			if err != nil {
				continue // of a publisher that does not count
			}
			key := store{s.Cluster, s.Name, extension(m, events.ExtEpoch)}
			sequences[key] = append(sequences[key], sequence)
			if first, known := backfilled[key]; stream == events.StreamBackfill && (!known || sequence < first) {
				backfilled[key] = sequence
			}
		}
	}
	var found []Violation
	for key, first := range backfilled {
		all := slices.Sorted(slices.Values(sequences[key]))
		all = slices.Compact(all)
		from, _ := slices.BinarySearch(all, first)
		for i := from + 1; i < len(all); i++ {
			if all[i] != all[i-1]+1 {
				found = append(found, violates(1, "of source %s of %s, snapshots %d to %d are missing", key.source, key.cluster, all[i-1]+1, all[i]-1))
			}
		}
	}
	return found
}

// Came reports whether anything of the source's backlog is there.
func Came(e Evidence, cluster, source string) bool {
	return slices.ContainsFunc(e[events.StreamBackfill], func(m events.Message) bool {
		return m.Subject == events.BackfillSubject(cluster, source) && extension(m, events.ExtSequence) != ""
	})
}

// NewestFirst reports whether the source's first snapshot in SW_METRICS
// arrived before any in SW_BACKFILL: what is current goes ahead of history.
func NewestFirst(e Evidence, cluster, source string) bool {
	var first [2]events.Message
	for i, where := range []struct{ stream, subject string }{
		{events.StreamMetrics, events.MetricSubject(cluster, source)},
		{events.StreamBackfill, events.BackfillSubject(cluster, source)},
	} {
		at := slices.IndexFunc(e[where.stream], func(m events.Message) bool {
			return m.Subject == where.subject && extension(m, events.ExtSequence) != ""
		})
		if at < 0 {
			return false
		}
		first[i] = e[where.stream][at]
	}
	return first[0].ReceivedAt.Before(first[1].ReceivedAt)
}

// Ordered checks, part of invariant 2, that no replica of the bridge wrote
// an older decision over a newer one: by the resource versions of the pages
// in the receipts, the decisions' positions never go back.
func Ordered(e Evidence) []Violation {
	type write struct{ version, decision uint64 }
	writes := map[string][]write{}
	for _, m := range e[events.StreamReceipts] {
		payload, err := payloadOf(m)
		receipt, isReceipt := payload.(*schemas.Receipt)
		if err != nil || !isReceipt || receipt.Outcome != schemas.OutcomeApplied {
			continue
		}
		for _, o := range receipt.Objects {
			version, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
			if err != nil || o.Kind != "PlacementDecision" {
				continue
			}
			object := receipt.Subject + " on " + o.Namespace + "/" + o.Name
			writes[object] = append(writes[object], write{version, receipt.Sequence})
		}
	}
	var found []Violation
	for _, object := range slices.Sorted(maps.Keys(writes)) {
		list := writes[object]
		slices.SortFunc(list, func(a, b write) int { return int(int64(a.version) - int64(b.version)) })
		for i := 1; i < len(list); i++ {
			if list[i].decision < list[i-1].decision {
				found = append(found, violates(2, "%s: version %d holds decision %d, though version %d held %d", object, list[i].version, list[i].decision, list[i-1].version, list[i-1].decision))
			}
		}
	}
	return found
}

// extension is the text of an extension attribute, or "".
func extension(m events.Message, name string) string {
	e, err := events.Decode(m)
	if err != nil {
		return ""
	}
	text, err := types.Format(e.Extensions()[name])
	if err != nil {
		return ""
	}
	return text
}

// Backlog says what is missing of the snapshots that a source took from from
// to to, by what SW_BACKFILL holds of them; "" if nothing is.
func Backlog(e Evidence, cluster, source string, from, to time.Time) string {
	var oldest, newest time.Time
	for _, m := range e[events.StreamBackfill] {
		if m.Subject != events.BackfillSubject(cluster, source) {
			continue
		}
		decoded, err := events.Decode(m)
		if err != nil {
			continue // of somebody who sends what cannot be read
		}
		age, err := events.Age(decoded)
		if err != nil {
			continue
		}
		taken := m.ReceivedAt.Add(-age)
		if oldest.IsZero() || taken.Before(oldest) {
			oldest = taken
		}
		if taken.After(newest) {
			newest = taken
		}
	}
	if oldest.IsZero() || oldest.After(from) || newest.Before(to) {
		return fmt.Sprintf("the backlog of %s reaches from %v to %v, want %v to %v", cluster, oldest, newest, from, to)
	}
	return ""
}
