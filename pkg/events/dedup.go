package events

import (
	"container/list"
	"context"
	"strconv"
	"sync"
)

// Dedup passes over an event whose epoch and sequence are not above those of
// the last event of the same subject and source that was handled. Events
// without the two, and those that are handed out again, always pass. It
// remembers the limit subjects and sources that were used last, in memory.
func Dedup(limit int) Decorator {
	marks := &marks{limit: limit, order: list.New(), at: map[markKey]*list.Element{}}
	return func(next Handler) Handler {
		return func(ctx context.Context, m Message) ([]Outgoing, error) {
			key, number, ok := numberOf(m)
			if ok && m.Deliveries <= 1 && marks.covers(key, number) {
				return nil, nil
			}
			out, err := next(ctx, m)
			if ok && err == nil {
				marks.raise(key, number)
			}
			return out, err
		}
	}
}

type markKey struct{ subject, source string }

type mark struct {
	key    markKey
	number number
}

type number struct{ epoch, sequence uint64 }

func (n number) above(other number) bool {
	return n.epoch > other.epoch || n.epoch == other.epoch && n.sequence > other.sequence
}

func numberOf(m Message) (markKey, number, bool) {
	e, err := Decode(m)
	if err != nil {
		return markKey{}, number{}, false // the handler says what is wrong with it
	}
	epoch, err := strconv.ParseUint(extension(e, ExtEpoch), 10, 64)
	if err != nil {
		return markKey{}, number{}, false
	}
	sequence, err := strconv.ParseUint(extension(e, ExtSequence), 10, 64)
	return markKey{m.Subject, e.Source()}, number{epoch, sequence}, err == nil
}

// marks are the numbers handled last, the most recently used first.
type marks struct {
	mu    sync.Mutex
	limit int
	order *list.List
	at    map[markKey]*list.Element
}

func (s *marks) covers(key markKey, n number) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	element := s.at[key]
	if element == nil {
		return false
	}
	s.order.MoveToFront(element)
	return !n.above(element.Value.(*mark).number)
}

func (s *marks) raise(key markKey, n number) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if element := s.at[key]; element != nil {
		if known := element.Value.(*mark); n.above(known.number) {
			known.number = n
		}
		return
	}
	s.at[key] = s.order.PushFront(&mark{key, n})
	for s.order.Len() > s.limit {
		oldest := s.order.Back()
		delete(s.at, oldest.Value.(*mark).key)
		s.order.Remove(oldest)
	}
}
