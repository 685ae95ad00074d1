package flap

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Kinds of traces.
const (
	KindNoise     = "noise"     // nothing happens
	KindSwing     = "swing"     // the best changes, back and forth
	KindDrift     = "drift"     // the best changes, slowly and for good
	KindStep      = "step"      // the best falls by more than any noise
	KindSmallStep = "smallstep" // the best falls by about what noise does
	KindRecorded  = "recorded"
)

// Trace is the scores of a few clusters, sample by sample.
type Trace struct {
	Name, Kind string
	Every      time.Duration
	// Truth is what each cluster is worth, which nobody sees; Seen is the
	// scores: by cluster, then by sample.
	Truth [][]float64
	Seen  [][]int32
	// Falls are the samples at which the cluster that was best ceases to be,
	// by a step.
	Falls []Fall
}

// Fall is a step: from Sample on the cluster is worth much less.
type Fall struct{ Cluster, Sample int }

// Samples is how many there are.
func (t *Trace) Samples() int { return len(t.Seen[0]) }

// Generated traces.
const (
	clusters = 5
	every    = 10 * time.Second
	samples  = 720 // two hours
)

// Generate makes so many traces of each kind, the same ones for the same seed.
func Generate(seed uint64, each int) []Trace {
	var all []Trace
	for k, make := range []func(*rand.Rand, *Trace){noise, swing, drift, step, smallStep} {
		for i := range each {
			rng := rand.New(rand.NewPCG(seed, uint64(k)<<32|uint64(i)))
			t := Trace{Every: every}
			for range clusters {
				t.Truth = append(t.Truth, flat(50+8*rng.Float64()))
			}
			make(rng, &t)
			t.Name = fmt.Sprintf("%s-%02d", t.Kind, i+1)
			all = append(all, t)
		}
	}
	return all
}

func flat(level float64) []float64 {
	out := make([]float64, samples)
	for i := range out {
		out[i] = level
	}
	return out
}

// noise is from 2 to 8 points, of every second trace with a memory of about a
// minute.
func noise(rng *rand.Rand, t *Trace) {
	t.Kind = KindNoise
	t.see(rng, 2+6*rng.Float64())
}

func swing(rng *rand.Rand, t *Trace) {
	t.Kind = KindSwing
	amplitude, period := 8+12*rng.Float64(), 60+120*rng.Float64() // 10 to 30 minutes
	for c, truth := range t.Truth {
		for i := range truth {
			truth[i] += amplitude * math.Sin(2*math.Pi*(float64(i)/period+float64(c)/clusters))
		}
	}
	t.see(rng, 2+3*rng.Float64())
}

func drift(rng *rand.Rand, t *Trace) {
	t.Kind = KindDrift
	for _, truth := range t.Truth {
		slope := (rng.Float64() - 0.5) * 60 / samples
		for i := range truth {
			truth[i] += slope * float64(i)
		}
	}
	t.see(rng, 2+3*rng.Float64())
}

func step(rng *rand.Rand, t *Trace) {
	t.Kind = KindStep
	t.fall(rng, 85+15*rng.Float64())
	t.see(rng, 2+3*rng.Float64())
}

func smallStep(rng *rand.Rand, t *Trace) {
	t.Kind = KindSmallStep
	t.fall(rng, 30+30*rng.Float64())
	t.see(rng, 2+3*rng.Float64())
}

// fall makes one cluster the best by some 15 points, until it falls; half an
// hour later the next one rises and falls likewise.
func (t *Trace) fall(rng *rand.Rand, by float64) {
	const lead, apart = 15, 240
	for n := range 2 {
		c, at := n, apart*(n+1)+rng.IntN(60)
		for i := range t.Truth[c] {
			switch {
			case i >= at:
				t.Truth[c][i] = 60 + lead - by
			case i >= at-apart:
				t.Truth[c][i] = 60 + lead
			}
		}
		t.Falls = append(t.Falls, Fall{c, at})
	}
}

// see adds noise of so many points (its standard deviation), white or with a
// memory, and now and then an outlier of three times as much.
func (t *Trace) see(rng *rand.Rand, deviation float64) {
	memory := 0.0
	if rng.IntN(2) == 0 {
		memory = 0.85
	}
	for _, truth := range t.Truth {
		seen, last := make([]int32, len(truth)), 0.0
		for i, worth := range truth {
			last = memory*last + math.Sqrt(1-memory*memory)*rng.NormFloat64()*deviation
			outlier := 0.0
			if rng.IntN(200) == 0 {
				outlier = 3 * deviation * rng.NormFloat64()
			}
			seen[i] = int32(math.Round(min(100, max(-100, worth+last+outlier))))
		}
		t.Seen = append(t.Seen, seen)
	}
}
