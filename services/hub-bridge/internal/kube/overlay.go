package kube

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// overlayFor is how long an own write hides an older state in an informer's
// cache. By then the cache has caught up, or its watch is broken and the API
// server's conflicts correct what was planned from it.
const overlayFor = 10 * time.Second

// overlay holds what this process knows of objects that an informer may not
// have seen yet: its own writes, and what it read from the API server. It
// keeps a worker from planning twice from the same old state. Objects are
// kept in groups, which are what a worker reads at once.
type overlay[T metav1.Object] struct {
	group func(T) string
	now   func() time.Time

	mu     sync.Mutex
	groups map[string]map[string]overlaid[T]
}

type overlaid[T metav1.Object] struct {
	object  T
	gone    bool
	version string
	until   time.Time
}

// hides reports whether e is later than the object's version: an object that
// is gone was last seen at its.
func (e overlaid[T]) hides(version string) bool {
	return newer(e.version, version) || e.gone && e.version == version
}

func newOverlay[T metav1.Object](group func(T) string, now func() time.Time) *overlay[T] {
	return &overlay[T]{group: group, now: now, groups: map[string]map[string]overlaid[T]{}}
}

// put takes note that the object was in this state at its resourceVersion.
func (o *overlay[T]) put(object T) {
	o.set(object, overlaid[T]{object: object, version: object.GetResourceVersion()})
}

// gone takes note that the object was there at version and is no more.
func (o *overlay[T]) gone(object T, version string) {
	o.set(object, overlaid[T]{object: object, gone: true, version: version})
}

func (o *overlay[T]) set(object T, e overlaid[T]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	group := o.group(object)
	if old, ok := o.groups[group][object.GetName()]; ok && now.Before(old.until) && newer(old.version, e.version) {
		return
	}
	if o.groups[group] == nil {
		o.groups[group] = map[string]overlaid[T]{}
	}
	e.until = now.Add(overlayFor)
	o.groups[group][object.GetName()] = e
}

// observe takes note of what an informer has seen: it drops what the
// informer knows as well or better, and remembers a deletion, lest the answer
// to an own write that comes late make the object exist again.
func (o *overlay[T]) observe(object T, deleted bool) {
	if deleted {
		o.gone(object, object.GetResourceVersion())
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	group := o.group(object)
	e, ok := o.groups[group][object.GetName()]
	if ok && !e.hides(object.GetResourceVersion()) {
		o.drop(group, object.GetName())
	}
}

func (o *overlay[T]) drop(group, name string) {
	delete(o.groups[group], name)
	if len(o.groups[group]) == 0 {
		delete(o.groups, group)
	}
}

// latest returns the objects of a group: of each the newer of what a cache
// holds and what the overlay knows.
func (o *overlay[T]) latest(group string, cached []T) []T {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.groups[group]
	if len(known) == 0 {
		return cached
	}
	var out []T
	inCache := map[string]bool{}
	for _, c := range cached {
		e, ok := known[c.GetName()]
		if ok && !o.now().After(e.until) && e.hides(c.GetResourceVersion()) {
			continue
		}
		inCache[c.GetName()] = true
		out = append(out, c)
	}
	for name, e := range known {
		switch {
		case o.now().After(e.until):
			o.drop(group, name)
		case !e.gone && !inCache[name]:
			out = append(out, e.object)
		}
	}
	return out
}

// sweep drops what has expired.
func (o *overlay[T]) sweep() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for group, known := range o.groups {
		for name, e := range known {
			if o.now().After(e.until) {
				o.drop(group, name)
			}
		}
	}
}

// newer reports whether resourceVersion a is later than b. Versions that
// cannot be compared are not.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
