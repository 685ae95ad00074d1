// Package wire speaks NATS directly, where the bus would be measured along
// with what is measured: it publishes metric events at a rate, and has the
// plain consumer that the scorer is compared with.
package wire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// maxPending is how many events wait for their acknowledgement at a time.
const maxPending = 1024

// stall is for how long the server may take nothing.
const stall = 30 * time.Second

// Load says which events are published: in turn for each cluster a snapshot
// of one source.
type Load struct {
	Clusters []string
	Source   string
	// Samples is how many an event holds, Metric included.
	Samples int
	// Metric is the name of the sample that a scorer reads. Its value is
	// below Range and changes in every Every-th event, the others' in each.
	Metric string
	Range  int
	Every  int
}

// Firehose publishes metric events and counts what was stored. It is for one
// goroutine.
type Firehose struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	load   Load
	prefix string
	heads  []nats.Header
	values []int
	sent   int
	failed atomic.Int64
}

// Open connects to url as its user.
func Open(url string, load Load) (*Firehose, error) {
	f := &Firehose{load: load, prefix: events.NewID() + "-", values: make([]int, len(load.Clusters))}
	for _, cluster := range load.Clusters {
		e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(cluster, load.Source), &schemas.Metrics{Samples: []schemas.Sample{}})
		if err != nil {
			return nil, err
		}
		header, _, err := events.Encode(e)
		if err != nil {
			return nil, err
		}
		f.heads = append(f.heads, nats.Header(header))
	}
	var err error
	if f.nc, err = nats.Connect(url, nats.Name("bench")); err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	f.js, err = jetstream.New(f.nc, jetstream.WithPublishAsyncMaxPending(maxPending),
		jetstream.WithPublishAsyncErrHandler(func(jetstream.JetStream, *nats.Msg, error) { f.failed.Add(1) }))
	if err != nil {
		f.nc.Close()
		return nil, err
	}
	return f, nil
}

// Close ends the connection.
func (f *Firehose) Close() { f.nc.Close() }

// Send publishes n events as fast as they are taken, and returns once all
// are stored.
func (f *Firehose) Send(ctx context.Context, n int) error {
	for range n {
		if err := f.next(); err != nil {
			return err
		}
	}
	return f.flush(ctx)
}

// Run publishes rate events a second until ctx ends. What the server does
// not take in time is made up for.
func (f *Firehose) Run(ctx context.Context, rate int) error {
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	began, sent := time.Now(), 0
	for {
		for due := int(time.Since(began).Seconds() * float64(rate)); sent < due && ctx.Err() == nil; sent++ {
			if err := f.next(); err != nil {
				return err
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return f.flush(context.WithoutCancel(ctx))
		}
	}
}

func (f *Firehose) next() error {
	i := f.sent % len(f.load.Clusters)
	if f.load.Every > 0 && f.sent%f.load.Every == 0 {
		f.values[i] = (f.values[i] + 1 + f.sent%(f.load.Range-1)) % f.load.Range
	}
	f.sent++
	id := f.prefix + strconv.Itoa(f.sent)
	header := maps.Clone(f.heads[i])
	header["ce-id"] = []string{id}
	header[jetstream.MsgIDHeader] = []string{id}
	_, err := f.js.PublishMsgAsync(&nats.Msg{
		Subject: events.MetricSubject(f.load.Clusters[i], f.load.Source), Header: header, Data: f.body(f.values[i]),
	}, jetstream.WithStallWait(stall))
	return err
}

// body writes a snapshot without the cost of encoding/json.
func (f *Firehose) body(value int) []byte {
	b := make([]byte, 0, 64+80*f.load.Samples)
	b = append(b, `{"samples":[`...)
	for s := 1; s < f.load.Samples; s++ {
		b = append(b, `{"name":"bench_series_`...)
		b = strconv.AppendInt(b, int64(s), 10)
		b = append(b, `","value":`...)
		b = strconv.AppendInt(b, int64(f.sent*s%1000), 10)
		b = append(b, `,"labels":{"instance":"node-1:9100","job":"node"}},`...)
	}
	b = append(b, `{"name":"`...)
	b = append(b, f.load.Metric...)
	b = append(b, `","value":`...)
	b = strconv.AppendInt(b, int64(value), 10)
	return append(b, `}]}`...)
}

// flush waits until everything is stored, and fails if anything was not.
func (f *Firehose) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	select {
	case <-f.js.PublishAsyncComplete():
	case <-ctx.Done():
		return fmt.Errorf("publish metric events: %w", ctx.Err())
	}
	if n := f.failed.Load(); n > 0 {
		return fmt.Errorf("NATS did not store %d of %d metric events", n, f.sent)
	}
	return nil
}

// Last is the sequence of the newest message of the metrics' stream.
func (f *Firehose) Last(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	s, err := f.js.Stream(ctx, events.StreamMetrics)
	if err != nil {
		return 0, err
	}
	info := s.CachedInfo()
	if info == nil {
		return 0, errors.New("NATS says nothing of stream " + events.StreamMetrics)
	}
	return info.State.LastSeq, nil
}
