package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/spokewire/spokewire/services/collector/internal/derive"
)

// Derive makes samples of what a source counts, over a window of its
// snapshots. What is derived is kept, whatever keep, drop and rename say.
type Derive struct {
	// Rates are expressions that match the whole name of a counter: of
	// x_total the sample is x_per_second.
	Rates []string `json:"rates,omitempty"`
	// Histograms are expressions that match the whole name of a histogram,
	// without _bucket; Quantiles are made of each: of h, h{quantile="0.99"}.
	Histograms []string  `json:"histograms,omitempty"`
	Quantiles  []float64 `json:"quantiles,omitempty"`
	// Window is how far back they look. Default: six intervals.
	Window Duration `json:"window,omitzero"`
}

const (
	defaultWindow = 6 // intervals
	maxQuantiles  = 20
)

func (d *Derive) setDefaults(interval time.Duration) {
	if d.Window == (Duration{}) {
		d.Window = Of(defaultWindow * interval)
	}
}

// Derived returns the rules of a valid source; without any they watch
// nothing.
func (s *Source) Derived() (derive.Rules, error) {
	if s.Derive == nil {
		return derive.Rules{}, nil
	}
	// A snapshot comes a little early or late.
	r := derive.Rules{Quantiles: s.Derive.Quantiles, Window: s.Derive.Window.Duration + s.Interval.Duration/2}
	var err error
	if r.Rates, err = compile("derive.rates", s.Derive.Rates); err != nil {
		return r, err
	}
	r.Histograms, err = compile("derive.histograms", s.Derive.Histograms)
	return r, err
}

func (s *Source) validateDerive() error {
	if s.Derive == nil {
		return nil
	}
	if err := s.Derive.Window.validate("derive.window"); err != nil {
		return err
	}
	window := s.Derive.Window.Duration
	switch d := s.Derive; {
	case !slices.Contains([]string{kindURL, kindRemoteWrite, kindOTLP}, s.kind()):
		return fieldErrorf("derive", "is not for this kind of source")
	case len(d.Rates)+len(d.Histograms) == 0:
		return fieldErrorf("derive", "names neither rates nor histograms")
	case (len(d.Histograms) == 0) != (len(d.Quantiles) == 0):
		return fieldErrorf("derive", "has one of histograms and quantiles, want both or none")
	case len(d.Quantiles) > maxQuantiles:
		return fieldErrorf("derive.quantiles", "has %d items, at most %d are taken", len(d.Quantiles), maxQuantiles)
	case window < s.Interval.Duration || window > derive.MaxPoints*s.Interval.Duration:
		return fieldErrorf("derive.window", "is %v, want one interval, %v, to %d of them", window, s.Interval.Duration, derive.MaxPoints)
	}
	for i, q := range s.Derive.Quantiles {
		if !(q >= 0 && q <= 1) {
			return fieldErrorf(fmt.Sprintf("derive.quantiles[%d]", i), "is %v, want 0 to 1", q)
		}
	}
	_, err := s.Derived()
	return err
}
