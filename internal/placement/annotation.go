package placement

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Annotations of a Placement that Spokewire reads. Each overrides the setting
// of the same name in the fleet's PlacementPolicy.
const (
	// AnnotationDeadBand is by how much more than that a challenger's total
	// must lead to displace a selected cluster. Default 0: any lead does, and
	// where no other setting is on, ties go by name, as in OCM.
	AnnotationDeadBand = "spokewire.dev/dead-band"
	// AnnotationDecisiveLead is a lead beyond which the window, the cooldown
	// and the dwell do not hold. Default 0: there is none.
	AnnotationDecisiveLead = "spokewire.dev/decisive-lead"
	// AnnotationWindow is for how long a cluster must stay behind before it is
	// dropped. Default 0s.
	AnnotationWindow = "spokewire.dev/stabilisation-window"
	// AnnotationBudget is how many clusters may be dropped for better ones in
	// an interval: "2/10m". Default off.
	AnnotationBudget = "spokewire.dev/change-budget"
	// AnnotationCooldown is for how long after a move no cluster is dropped
	// for a better one. Default 0s.
	AnnotationCooldown = "spokewire.dev/cooldown"
	// AnnotationDwell is for how long a cluster stays at least. Default 0s.
	AnnotationDwell = "spokewire.dev/minimum-dwell"
	// AnnotationStalePolicy is one of the Stale constants. Default hold.
	AnnotationStalePolicy = "spokewire.dev/stale-policy"
	// AnnotationStaleGrace is for how long a selected cluster keeps a score
	// that has expired. Default 30s under hold, else 0s.
	AnnotationStaleGrace = "spokewire.dev/stale-grace"
	// AnnotationOverlap is for how long at most a cluster that is dropped
	// stays on the hub beside those that take its place, until they have what
	// it had. Default 0s.
	AnnotationOverlap = "spokewire.dev/overlap"
)

// AnnotationMode has a Placement decided in shadow; see
// [schemas.AnnotationMode].
const AnnotationMode = schemas.AnnotationMode

// domain is that of all annotations which Spokewire reads or writes.
const domain = "spokewire.dev/"

// annotationOrigin is the bridge's, on a Placement that was asked for over
// the bus.
const annotationOrigin = domain + "origin"

// annotations are the annotations under domain that somebody may set.
func annotations() []string {
	return []string{
		AnnotationDeadBand, AnnotationDecisiveLead, AnnotationWindow, AnnotationBudget,
		AnnotationCooldown, AnnotationDwell, AnnotationStalePolicy, AnnotationStaleGrace, AnnotationOverlap, AnnotationMode,
	}
}

// readAnnotations returns the settings that the annotations override, and
// what is wrong with those that cannot be read.
func readAnnotations(annotations map[string]string) (schemas.PlacementPolicySpec, error) {
	a := annotationReader{all: annotations}
	s := schemas.PlacementPolicySpec{
		DeadBand:            a.lead(AnnotationDeadBand),
		DecisiveLead:        a.lead(AnnotationDecisiveLead),
		StabilisationWindow: a.time(AnnotationWindow),
		ChangeBudget:        a.budget(AnnotationBudget),
		Cooldown:            a.time(AnnotationCooldown),
		MinimumDwell:        a.time(AnnotationDwell),
		StalePolicy:         a.stale(AnnotationStalePolicy),
		StaleGrace:          a.grace(AnnotationStaleGrace),
	}
	a.time(AnnotationOverlap) // the bridge's to obey
	if mode, set := annotations[AnnotationMode]; set && mode != schemas.ModeShadow {
		a.refuse(AnnotationMode, schemas.ModeShadow+", or take it away")
	}
	a.unknown()
	return s, errors.Join(a.problems...)
}

// CheckAnnotations returns what is wrong with the annotations that Spokewire
// reads, nil where all can be read.
func CheckAnnotations(annotations map[string]string) error {
	_, err := readAnnotations(annotations)
	return err
}

// Overlap returns what AnnotationOverlap says, 0 where that cannot be read.
func Overlap(annotations map[string]string) time.Duration {
	text, set := annotations[AnnotationOverlap]
	if !set {
		return 0
	}
	d, ok := policyTime(text)
	if !ok {
		return 0
	}
	return time.Duration(d)
}

type annotationReader struct {
	all      map[string]string
	problems []error
}

func (a *annotationReader) refuse(name, want string) {
	a.problems = append(a.problems, fmt.Errorf("annotation %s is %q: write %s", name, a.all[name], want))
}

// unknown tells of those that look like settings and are none: somebody meant
// something by them.
func (a *annotationReader) unknown() {
	var unknown []string
	for key := range a.all {
		if strings.HasPrefix(key, domain) && key != annotationOrigin && !slices.Contains(annotations(), key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		a.problems = append(a.problems, fmt.Errorf("annotations that mean nothing: %s; those that do are %s", strings.Join(unknown, ", "), strings.Join(annotations(), ", ")))
	}
}

func (a *annotationReader) lead(name string) *int64 {
	text, set := a.all[name]
	if !set {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > schemas.MaxLead {
		a.refuse(name, fmt.Sprintf("a whole number from 0 to %d", schemas.MaxLead))
		return nil
	}
	return &n
}

func (a *annotationReader) time(name string) *schemas.Duration {
	text, set := a.all[name]
	if !set {
		return nil
	}
	d, ok := policyTime(text)
	if !ok {
		a.refuse(name, fmt.Sprintf("a duration from 0s to %dh, such as 30s", schemas.MaxPolicyTime))
		return nil
	}
	return &d
}

// grace has no bound: nothing is remembered for it.
func (a *annotationReader) grace(name string) *schemas.Duration {
	text, set := a.all[name]
	if !set {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		a.refuse(name, "a duration such as 30s")
		return nil
	}
	grace := schemas.Duration(d)
	return &grace
}

func policyTime(text string) (schemas.Duration, bool) {
	d, err := time.ParseDuration(text)
	return schemas.Duration(d), err == nil && d >= 0 && d <= schemas.MaxPolicyTime*time.Hour
}

func (a *annotationReader) budget(name string) *schemas.ChangeBudget {
	text, set := a.all[name]
	if !set {
		return nil
	}
	if text == "off" {
		return &schemas.ChangeBudget{}
	}
	moves, interval, found := strings.Cut(text, "/")
	n, err := strconv.Atoi(moves)
	d, ok := policyTime(interval)
	if !found || err != nil || n < 1 || n > schemas.MaxBudget || !ok || d == 0 {
		a.refuse(name, "off, or moves per interval such as 2/10m")
		return nil
	}
	return &schemas.ChangeBudget{Moves: n, Interval: d}
}

func (a *annotationReader) stale(name string) string {
	switch text := a.all[name]; text {
	case "", StaleHold, StaleExclude, StaleWorst, StaleZero:
		return text
	}
	a.refuse(name, "hold, exclude, worst or zero")
	return ""
}
