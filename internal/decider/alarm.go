package decider

import (
	"container/heap"
	"time"
)

// Alarm is when an item is to be looked at though nothing happens. It is
// embedded in what is put into Alarms.
type Alarm struct {
	at   time.Time // in server time; zero for never
	slot int       // in the heap, from 1; 0: not there
}

func (a *Alarm) alarm() *Alarm { return a }

// At is the server time of the alarm, zero for none.
func (a *Alarm) At() time.Time { return a.at }

// Timed is a pointer to a struct with an Alarm.
type Timed interface{ alarm() *Alarm }

// Alarms are items that time will change, soonest first.
type Alarms[T Timed] struct{ heap alarmHeap[T] }

// Set has x come out of Due at a server time; the zero time for never.
func (a *Alarms[T]) Set(x T, at time.Time) {
	alarm := x.alarm()
	alarm.at = at
	switch {
	case at.IsZero() && alarm.slot == 0:
	case at.IsZero():
		heap.Remove(&a.heap, alarm.slot-1)
	case alarm.slot == 0:
		heap.Push(&a.heap, x)
	default:
		heap.Fix(&a.heap, alarm.slot-1)
	}
}

// Due takes out an item whose time has come.
func (a *Alarms[T]) Due(now time.Time) (x T, ok bool) {
	if len(a.heap) == 0 || a.heap[0].alarm().at.After(now) {
		return x, false
	}
	x = heap.Pop(&a.heap).(T)
	x.alarm().at = time.Time{}
	return x, true
}

// Next is when the first of them is due, zero for never.
func (a *Alarms[T]) Next() time.Time {
	if len(a.heap) == 0 {
		return time.Time{}
	}
	return a.heap[0].alarm().at
}

type alarmHeap[T Timed] []T

func (h alarmHeap[T]) Len() int           { return len(h) }
func (h alarmHeap[T]) Less(i, j int) bool { return h[i].alarm().at.Before(h[j].alarm().at) }

func (h alarmHeap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].alarm().slot, h[j].alarm().slot = i+1, j+1
}

// Push is for package heap.
func (h *alarmHeap[T]) Push(x any) {
	item := x.(T)
	*h = append(*h, item)
	item.alarm().slot = len(*h)
}

// Pop is for package heap.
func (h *alarmHeap[T]) Pop() any {
	last := len(*h) - 1
	item := (*h)[last]
	var none T
	(*h)[last] = none
	*h = (*h)[:last]
	item.alarm().slot = 0
	return item
}
