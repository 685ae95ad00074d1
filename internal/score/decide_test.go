package score

import (
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	value := func(v int32) *int32 { return &v }
	prior := func(v *int32, reason string, holds time.Duration) *State {
		s := State{Items: []ItemState{stateOf("gpu", reason, v)}}
		if v != nil {
			s.ValidUntil = noon.Add(holds)
		}
		return &s
	}
	computed := func(v int32, holds time.Duration) *State {
		return prior(value(v), schemas.ScoreComputedReason, holds)
	}
	// gpu_free is 3 and holds for 50 s, as the fixture has it.
	const metric, timeless = `metric("gpu_free")`, `has_label("region") ? 1 : 0`
	for name, tc := range map[string]struct {
		cel       string
		prior     *State
		wantCause Cause
		wantWake  time.Duration // from now; 0 for never
	}{
		"first":                    {metric, nil, First, 50 * time.Second},
		"the same":                 {metric, computed(3, 50*time.Second), None, 50 * time.Second},
		"other value":              {metric, computed(4, 50*time.Second), Changed, 50 * time.Second},
		"other reason":             {metric, prior(value(3), schemas.ScoreClamped, 50*time.Second), Changed, 50 * time.Second},
		"had none":                 {metric, prior(nil, schemas.ScoreNoSample, 0), Changed, 50 * time.Second},
		"other items":              {metric, &State{Items: []ItemState{{Name: "other"}}}, Changed, 50 * time.Second},
		"more items":               {metric, &State{Items: make([]ItemState, 2)}, Changed, 50 * time.Second},
		"holds half as long":       {metric, computed(3, 30*time.Second), Refresh, 50 * time.Second},
		"holds long enough":        {metric, computed(3, 31*time.Second), None, time.Second},
		"has expired":              {metric, computed(3, -time.Second), Refresh, 50 * time.Second},
		"claims too much":          {metric, computed(3, 51*time.Second), Shorter, 50 * time.Second},
		"goes to the hub now":      {metric, &State{Items: computed(3, 0).Items, ValidUntil: noon.Add(50 * time.Second), HubOff: true}, Settings, 50 * time.Second},
		"no sample, again":         {`metric("nosuch")`, prior(nil, schemas.ScoreNoSample, 0), None, 0},
		"no sample any more":       {`metric("old")`, computed(3, 0), Changed, 0},
		"timeless":                 {timeless, computed(1, 40*time.Second), None, 10 * time.Second},
		"timeless, near its end":   {timeless, computed(1, 30*time.Second), Refresh, 30 * time.Second},
		"timeless, other's clock":  {timeless, computed(1, 65*time.Second), None, 35 * time.Second},
		"timeless, was far longer": {timeless, computed(1, 10*time.Minute), Shorter, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.Compile(scorer(tc.cel))
			if err != nil {
				t.Fatal(err)
			}
			next := p.Evaluate(fixture(), noon)
			cause, wake := p.Decide(tc.prior, &next, noon)
			var want time.Time
			if tc.wantWake != 0 {
				want = noon.Add(tc.wantWake)
			}
			if cause != tc.wantCause || !wake.Equal(want) {
				t.Errorf("Decide = %q and %v, want %q and %v", cause, wake, tc.wantCause, want)
			}
		})
	}
}

// TestDecideSettles publishes what Decide asks for and decides again: nothing
// may follow, and what was published reads back as what is remembered.
func TestDecideSettles(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for _, cel := range []string{`metric("gpu_free")`, `metric("queue")`, `1`, `1000`, `metric("old")`, `1.0/0.0`} {
		p, err := c.Compile(scorer(cel))
		if err != nil {
			t.Fatal(err)
		}
		next := p.Evaluate(fixture(), noon)
		event := schemas.Score{Cluster: "c", Scorer: "gpu", Items: next.Score(), HubOff: p.HubOff()}
		if !next.ValidUntil.IsZero() {
			event.ValidUntil = &next.ValidUntil
		}
		if err := event.Validate(); err != nil {
			t.Errorf("%s: %v", cel, err)
		}
		read := StateOf(&event, noon)
		if cause, _ := p.Decide(&read, &next, noon); cause != None {
			t.Errorf("%s: after publishing, Decide = %q", cel, cause)
		}
		kept := p.State(&next)
		if cause, _ := p.Decide(&kept, &next, noon); cause != None {
			t.Errorf("%s: with the state kept, Decide = %q", cel, cause)
		}
	}
}

// simulate lets time pass with an event every period, publishes what Decide
// asks for, and wakes when it says so. It returns how often it published.
func simulate(t *testing.T, p *Program, period, jitter, total time.Duration) int {
	t.Helper()
	var prior *State
	c := &Cluster{}
	published, observed := 0, 0
	var wake time.Time
	for at := time.Duration(0); at <= total; at += time.Second {
		now := noon.Add(at)
		event := at >= time.Duration(observed)*period+time.Duration(observed%2)*jitter
		if event {
			observed++
			c.Sources = []*Source{{Name: "a", ObservedAt: now, Samples: series.NewSamples([]schemas.Sample{sample("x", 3)})}}
		}
		if !event && (wake.IsZero() || now.Before(wake)) {
			continue
		}
		next := p.Evaluate(c, now)
		var cause Cause
		if cause, wake = p.Decide(prior, &next, now); cause != None {
			published++
			state := p.State(&next)
			prior = &state
		}
		if fresh := now.Sub(c.Sources[0].ObservedAt) < p.ValidFor(); fresh && !prior.ValidUntil.After(now) {
			t.Fatalf("after %s (every %s): the published score has expired beside a fresh sample", at, period)
		}
	}
	return published
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	p, err := newCompiler(t).Compile(scorer(`metric("x")`))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		period, jitter time.Duration
		wantMost       int
	}{
		"every second":     {time.Second, 0, 22},
		"every 10 s":       {10 * time.Second, 0, 22},
		"every 29 s":       {29 * time.Second, 3 * time.Second, 25},
		"every 40 s":       {40 * time.Second, 0, 17},
		"almost too rare":  {59 * time.Second, 0, 12},
		"every other lost": {45 * time.Second, 14 * time.Second, 15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := simulate(t, p, tc.period, tc.jitter, 10*time.Minute); got < 10 || got > tc.wantMost {
				t.Errorf("published %d times in 10 minutes, want 10 to %d", got, tc.wantMost)
			}
		})
	}
}
