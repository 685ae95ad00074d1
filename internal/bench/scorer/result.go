package scorer

import (
	"fmt"

	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/wire"
)

func (m *runner) result() bench.Result {
	o := m.options
	out := bench.Result{
		Title: fmt.Sprintf("Score metric events of %d samples", o.Samples),
		About: []string{
			fmt.Sprintf("A scorer process reads one metric of %d clusters; %.3g%% of the events change a score, which is published. It is stopped while %d events are stored, and then works them off. The plain consumer is a process with nats.go's ordered consumer, which reads the very same events from the same stream right after: it unmarshals them with encoding/json into our structs and checks nothing, or it checks all that we check.", o.Clusters, 100*o.Changes, o.Events),
			fmt.Sprintf("In the live part a client publishes %d events/s and waits for their acknowledgements.", o.Rate),
		},
	}
	if o.Pin {
		out.About = append(out.About, "Scorer and consumers are kept on one core; NATS and the publisher may use the others, and that one.")
	}
	out.Add("scorer", bench.PerSecond, bench.AtLeast(atLeastRate), m.scorer...)
	names := map[string]string{wire.DecodeJSON: "plain consumer, encoding/json", wire.DecodeRead: "plain consumer, all checks"}
	for _, decode := range []string{wire.DecodeJSON, wire.DecodeRead} {
		out.Add(names[decode], bench.PerSecond, nil, m.plain[decode]...)
		out.Add("scorer by "+names[decode], bench.Times, bench.AtLeast(atLeastShare), pairs(m.scorer, m.plain[decode])...)
	}
	out.Add("scorer: events a CPU second", bench.PerSecond, nil, m.scorerCPU...)
	for _, decode := range []string{wire.DecodeJSON, wire.DecodeRead} {
		out.Add(names[decode]+": events a CPU second", bench.PerSecond, nil, m.plainCPU[decode]...)
	}
	out.Add("live: stored", bench.PerSecond, nil, m.offered)
	out.Add("live: scored", bench.PerSecond, nil, m.taken)
	out.Add("live: CPU of the scorer", bench.Percent, nil, m.liveCPU)
	return out
}

func pairs(of, by []float64) []float64 {
	a, b := make([][]float64, len(of)), make([][]float64, len(by))
	for i := range of {
		a[i], b[i] = of[i:i+1], by[i:i+1]
	}
	return bench.Ratios(a, b)
}
