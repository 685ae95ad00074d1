package sampletext

import (
	"bytes"
	"io"
	"math"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Timed is a sample and when it was taken, the zero time where the text does
// not say.
type Timed struct {
	schemas.Sample
	At time.Time
}

// ParseTimed reads a page as ParsePrometheus does, but with the times that it
// gives, in its own order, and as many samples as fit. A page that ends with
// "# EOF" is OpenMetrics, whose times are in seconds; in Prometheus text they
// are in milliseconds.
func ParseTimed(r io.Reader) ([]Timed, error) {
	text, err := readPage(r)
	if err != nil {
		return nil, err
	}
	symbols := labels.NewSymbolTable()
	p := page{lines: lines{rest: text}, limit: math.MaxInt}
	if bytes.HasSuffix(bytes.TrimRight(text, "\n"), []byte("# EOF")) {
		p.parser = textparse.NewOpenMetricsParser(text, symbols)
	} else {
		p.parser = textparse.NewPromParser(text, symbols, false)
	}
	samples := []Timed{}
	err = p.each(func(s Timed) { samples = append(samples, s) })
	return samples, err
}
