package eventstest

import (
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

func (st *stream) expire(now time.Time) {
	for st.decl.MaxAge > 0 {
		oldest := st.oldest()
		if oldest == nil || now.Sub(oldest.message.ReceivedAt) < st.decl.MaxAge {
			break
		}
		st.drop(oldest)
	}
	for _, r := range st.mortal {
		if !r.removed && !now.Before(r.expires) {
			st.drop(r)
		}
	}
	st.mortal = slices.DeleteFunc(st.mortal, func(r *record) bool { return r.removed })
}

func (st *stream) oldest() *record {
	for _, r := range st.log {
		if !r.removed {
			return r
		}
	}
	return nil
}

// dropOldest drops the oldest record unless it is the one to keep.
func (st *stream) dropOldest(keep *record) bool {
	oldest := st.oldest()
	if oldest == nil || oldest == keep {
		return false
	}
	st.drop(oldest)
	return true
}

func (st *stream) drop(r *record) {
	st.remove(r)
	subject := r.message.Subject
	of := slices.DeleteFunc(slices.Clone(st.subjects[subject]), func(other *record) bool { return other == r })
	if len(of) == 0 {
		delete(st.subjects, subject)
		return
	}
	st.subjects[subject] = of
}

func (st *stream) removeAll(subject string) {
	for _, r := range st.subjects[subject] {
		st.remove(r)
	}
	delete(st.subjects, subject)
}

// remove marks r as removed; the caller takes it out of its subject.
func (st *stream) remove(r *record) {
	r.removed = true
	st.bytes -= r.size
	st.removed++
	if st.removed > 64 && st.removed > len(st.log)/2 {
		st.log = slices.DeleteFunc(slices.Clone(st.log), func(r *record) bool { return r.removed })
		st.removed = 0
	}
}

func sizeOf(h events.Header, data []byte) int {
	size := len(data)
	for key, values := range h {
		for _, v := range values {
			size += len(key) + len(v) + len(": \r\n")
		}
	}
	return size
}
