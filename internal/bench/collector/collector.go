// Package collector measures what a collector process needs.
package collector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/proc"
	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/internal/bound"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/events"
)

// Options of a run.
type Options struct {
	// Series are what the endpoint shows, Kept what the collector forwards.
	Series, Kept int
	Interval     time.Duration
	// Scrapes is how many are measured.
	Scrapes int
}

// DefaultOptions are those of the target, but with ten times as many scrapes.
func DefaultOptions() Options {
	return Options{Series: 1500, Kept: 1000, Interval: time.Second, Scrapes: 40}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.Series, "series", o.Series, "series that the endpoint shows")
	fs.IntVar(&o.Kept, "kept", o.Kept, "series that are kept")
	fs.DurationVar(&o.Interval, "interval", o.Interval, "time between scrapes; what is measured is converted to 10s")
	fs.IntVar(&o.Scrapes, "scrapes", o.Scrapes, "scrapes to measure")
}

// Validate names the flag that is wrong.
func (o Options) Validate() error {
	return cmp.Or(
		bound.Within("--kept", o.Kept, 1, o.Series),
		bound.AtLeast("--interval", o.Interval, 100*time.Millisecond),
		bound.AtLeast("--scrapes", o.Scrapes, 1),
	)
}

// Targets, of the design: at one scrape in 10 s.
const (
	targetInterval = 10 * time.Second
	atMostMiB      = 40
	atMostPercent  = 2
)

// Run measures.
func Run(ctx context.Context, env rig.Env, o Options) (_ bench.Result, err error) {
	r, err := rig.Start(ctx, env, func(s *stack.Options) { s.Hub = stack.None })
	if err != nil {
		return bench.Result{}, err
	}
	defer func() { err = r.Close(err) }()
	for _, name := range []string{access.Scorer, access.PlacementWriter} {
		if err := r.Halt(name); err != nil {
			return bench.Result{}, err
		}
	}
	endpoint := &endpoint{options: o}
	server := httptest.NewServer(endpoint)
	defer server.Close()
	outbox, err := os.MkdirTemp("", "spokewire-bench-outbox-")
	if err != nil {
		return bench.Result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(outbox)) }()
	running, pid, stop, err := start(ctx, r, o, server.URL, filepath.Join(outbox, "outbox"))
	if err != nil {
		return bench.Result{}, err
	}
	defer stop()
	err = r.Stored(running, events.StreamMetrics, events.MetricSubject(cluster, source), 1)
	if err != nil {
		return bench.Result{}, errors.Join(err, context.Cause(running))
	}
	result, err := measure(running, r, o, endpoint, pid)
	return result, errors.Join(err, context.Cause(running))
}

const cluster, source = "bench", "node"

// start runs a collector process. The context that it returns ends with it.
func start(ctx context.Context, r *rig.Rig, o Options, target, outbox string) (running context.Context, pid int, stop func(), err error) {
	words := append(r.Env.Service("collector"), "--cluster", cluster, "--source", source,
		"--target", target, "--interval", o.Interval.String(), "--keep", "kept_.*", "--outbox", outbox, "--log-level", "warn")
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "NATS_URL="+r.URL)
	cmd.Stderr = r.Env.Progress
	if err := cmd.Start(); err != nil {
		return nil, 0, nil, err
	}
	running, cancel := context.WithCancelCause(ctx)
	go func() { cancel(fmt.Errorf("the collector ended by itself: %w", orEnd(cmd.Wait()))) }()
	return running, cmd.Process.Pid, func() {
		_ = cmd.Process.Kill() // what it has stored is thrown away
		<-running.Done()
	}, nil
}

func orEnd(err error) error {
	if err == nil {
		return errors.New("without an error")
	}
	return err
}

func measure(ctx context.Context, r *rig.Rig, o Options, e *endpoint, pid int) (bench.Result, error) {
	r.Say("measuring %d scrapes of %d series", o.Scrapes, o.Series)
	scraped := e.scrapes.Load()
	cpu, err := proc.CPU(pid)
	if err != nil {
		return bench.Result{}, err
	}
	began := time.Now()
	var resident []float64
	err = rig.Poll(ctx, "the scrapes", time.Duration(o.Scrapes)*o.Interval+time.Minute, o.Interval, func() (bool, error) {
		m, err := proc.MemoryOf(pid)
		resident = append(resident, float64(m.Resident)/(1<<20))
		return e.scrapes.Load()-scraped >= int64(o.Scrapes), err
	})
	if err != nil {
		return bench.Result{}, err
	}
	now, err := proc.CPU(pid)
	if err != nil {
		return bench.Result{}, err
	}
	took, used, n := time.Since(began), now-cpu, e.scrapes.Load()-scraped
	peak, err := proc.MemoryOf(pid)
	if err != nil {
		return bench.Result{}, err
	}
	out := bench.Result{
		Title: fmt.Sprintf("A collector that keeps %d of %d series", o.Kept, o.Series),
		About: []string{fmt.Sprintf("A collector process scrapes an endpoint every %s for %d scrapes, keeps the series by a regular expression of their names, and forwards them over NATS. Processor time is counted in steps of 10 ms, hence over all scrapes together.", o.Interval, n)},
	}
	scrape := used.Seconds() / float64(n)
	out.Add("CPU at a scrape every 10 s", bench.Percent, bench.AtMost(atMostPercent), 100*scrape/targetInterval.Seconds())
	out.Add(fmt.Sprintf("CPU at a scrape every %s", o.Interval), bench.Percent, nil, 100*used.Seconds()/took.Seconds())
	out.Add("CPU time of a scrape", bench.Milliseconds, nil, 1000*scrape)
	out.Add("resident memory", bench.MiB, bench.AtMost(atMostMiB), resident...)
	out.Add("resident memory at its peak", bench.MiB, nil, float64(peak.Peak)/(1<<20))
	return out, nil
}

// endpoint shows series whose values change.
type endpoint struct {
	options Options
	scrapes atomic.Int64
}

// ServeHTTP writes the exposition: families of 50 series, those that are
// kept first.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	n := e.scrapes.Add(1)
	var b strings.Builder
	for i := range e.options.Series {
		family := "kept_" + strconv.Itoa(i/50)
		if i >= e.options.Kept {
			family = "dropped_" + strconv.Itoa(i/50)
		}
		if i%50 == 0 || i == e.options.Kept {
			fmt.Fprintf(&b, "# HELP %s A series of the benchmark.\n# TYPE %s gauge\n", family, family)
		}
		fmt.Fprintf(&b, "%s{instance=\"node-%d:9100\",device=\"eth0\"} %d\n", family, i%50, (int64(i)*n)%997)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = w.Write([]byte(b.String())) // a scraper that is gone is no matter
}
