package writer

import (
	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/pkg/events"
)

// refuse buries m. What its subject said before stays, but decisions name a
// set that never made sense, and are published behind m.
func (w *Writer) refuse(m events.Message, cause error) {
	w.Bury(m, cause)
	s, err := events.ParseSubject(m.Subject)
	switch {
	case err != nil:
	case s.Family == events.FamilyDecision:
		w.skip(w.desk(seatOf(s)), m.Sequence)
	case s.Family == events.FamilyHub && s.Kind == events.KindClusterSet:
		w.seen.fleet = max(w.seen.fleet, m.Sequence)
		w.fleet.RefuseClusterSet(s.Name, cause)
		w.markAll("", decider.Trigger{})
	}
}
