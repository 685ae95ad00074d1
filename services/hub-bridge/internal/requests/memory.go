package requests

import (
	"maps"
	"slices"
	"sync"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// memory is what was found out of the requests of each subject.
type memory struct {
	mu       sync.Mutex
	subjects map[string]*known
}

// known is what was found out of the requests of one subject.
type known struct {
	// force is the request that was carried out last, uid and generation those
	// of the Placement when it was.
	force      uint64
	uid        string
	generation int64
	// answers are those to the one in force and to later ones.
	answers map[uint64]answered
	// dead are the requests that were refused for good, each with the one that
	// stands in for it, nil for none.
	dead map[uint64]*Entry
	// overtaken are requests that a newer one followed, to be answered.
	overtaken []*Entry
	// foreign is the UID of a Placement that was found not to be ours.
	foreign string
}

type answered struct{ outcome, reason string }

// maxOvertaken bounds the requests of a subject that wait for an answer.
const maxOvertaken = 64

// at returns what is known of subject; the caller holds the lock.
func (m *memory) at(subject string) *known {
	k := m.subjects[subject]
	if k == nil {
		k = &known{answers: map[uint64]answered{}, dead: map[uint64]*Entry{}}
		m.subjects[subject] = k
	}
	return k
}

func (m *memory) get(subject string) known {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.subjects[subject]; k != nil {
		return *k
	}
	return known{}
}

func (m *memory) forget(subject string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.subjects, subject)
}

func (m *memory) overtake(e *Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.at(e.Subject)
	if len(k.overtaken) == maxOvertaken {
		k.overtaken = k.overtaken[1:]
	}
	k.overtaken = append(k.overtaken, e)
}

// open returns the overtaken requests of subject that were not answered, and
// forgets what is older than the one in force.
func (m *memory) open(subject string) []*Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.subjects[subject]
	if k == nil {
		return nil
	}
	var open []*Entry
	for _, e := range k.overtaken {
		if _, ok := k.answers[e.Sequence]; !ok {
			open = append(open, e)
		}
	}
	k.overtaken = nil
	trim(k.answers, k.force)
	trim(k.dead, k.force)
	return open
}

// maxKept bounds what is remembered of a subject's refused requests.
const maxKept = 64

// trim drops what is before the request in force, and the oldest of too many.
func trim[T any](m map[uint64]T, force uint64) {
	maps.DeleteFunc(m, func(sequence uint64, _ T) bool { return sequence < force })
	sequences := slices.Sorted(maps.Keys(m))
	for _, sequence := range sequences[:max(0, len(sequences)-maxKept)] {
		if sequence != force {
			delete(m, sequence)
		}
	}
}

// standIn returns what stands in for e, and whether e was refused for good.
func (m *memory) standIn(e *Entry) (earlier *Entry, dead bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.subjects[e.Subject]; k != nil {
		earlier, dead = k.dead[e.Sequence]
	}
	return earlier, dead
}

func (m *memory) bury(e, earlier *Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at(e.Subject).dead[e.Sequence] = earlier
}

// isForeign takes note that the Placement with this UID is not ours.
func (m *memory) isForeign(subject, uid string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at(subject).foreign = uid
}

// news takes note of an answer and reports whether it says anything new:
// each request is answered once, and each revert.
func (m *memory) news(e *Entry, p *clusterv1beta1.Placement, now answered) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.at(e.Subject)
	before, said := k.answers[e.Sequence]
	k.answers[e.Sequence] = now
	if now.outcome == schemas.OutcomeApplied || now.outcome == schemas.OutcomeUnchanged {
		k.force, k.uid, k.generation = e.Sequence, "", 0
		if p != nil {
			k.uid, k.generation = string(p.UID), p.Generation
		}
	}
	return !said || now.outcome == schemas.OutcomeApplied || now.outcome != schemas.OutcomeUnchanged && before != now
}
