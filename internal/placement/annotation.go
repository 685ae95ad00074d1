package placement

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Annotations of a Placement that Spokewire reads.
const (
	// AnnotationDeadBand is by how much more than that a challenger's total
	// must lead to displace a selected cluster. Default 0: any lead does, and
	// ties go by name, as in OCM.
	AnnotationDeadBand = "spokewire.dev/dead-band"
	// AnnotationStalePolicy is one of the Stale constants. Default hold.
	AnnotationStalePolicy = "spokewire.dev/stale-policy"
	// AnnotationStaleGrace is for how long hold holds. Default 30s.
	AnnotationStaleGrace = "spokewire.dev/stale-grace"
)

// What to do with a cluster that lacks a score which the Placement counts,
// or whose score has expired.
const (
	// StaleHold lets a selected cluster keep its last score for the grace
	// after it expired; otherwise it is as StaleExclude.
	StaleHold = "hold"
	// StaleExclude makes the cluster ineligible.
	StaleExclude = "exclude"
	// StaleWorst counts the worst score there is.
	StaleWorst = "worst"
	// StaleZero counts 0, which is what OCM does.
	StaleZero = "zero"
)

const defaultStaleGrace = 30 * time.Second

type stalePolicy struct {
	policy string
	grace  time.Duration
}

// readAnnotations keeps the default wherever an annotation makes no sense: a
// slip in one must not move a workload.
func (p *Placement) readAnnotations() {
	var problems [4]error
	p.deadBand, problems[0] = deadBand(p.Object.Annotations)
	p.stale.policy, problems[1] = staleOf(p.Object.Annotations)
	p.stale.grace, problems[2] = staleGrace(p.Object.Annotations)
	p.scoreLimit, problems[3] = scoreLimit(p.Spec.ScoreRateLimit)
	p.annotations = errors.Join(problems[:]...)
}

func deadBand(annotations map[string]string) (int64, error) {
	text, set := annotations[AnnotationDeadBand]
	if !set {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("annotation %s is %q: write a whole number from 0; 0 is in force", AnnotationDeadBand, text)
	}
	return n, nil
}

func staleOf(annotations map[string]string) (string, error) {
	switch text := annotations[AnnotationStalePolicy]; text {
	case "":
		return StaleHold, nil
	case StaleHold, StaleExclude, StaleWorst, StaleZero:
		return text, nil
	default:
		return StaleHold, fmt.Errorf("annotation %s is %q: write hold, exclude, worst or zero; hold is in force", AnnotationStalePolicy, text)
	}
}

func staleGrace(annotations map[string]string) (time.Duration, error) {
	text, set := annotations[AnnotationStaleGrace]
	if !set {
		return defaultStaleGrace, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return defaultStaleGrace, fmt.Errorf("annotation %s is %q: write a duration such as 30s; %s is in force", AnnotationStaleGrace, text, defaultStaleGrace)
	}
	return d, nil
}
