package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/sampletext"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const publishLong = `Publish metrics as one event.

An event is a snapshot: it holds all current samples of one source of one
cluster and replaces the source's previous event as a whole. A series that is
left out is gone, so give every series of the source each time. Where there is
none at all, --empty says that this is meant.

Samples are given as arguments, or read from FILE (- is standard input):
Prometheus text, or structured CloudEvents, one a line, which say themselves
what they are about (metrics, or scores of a scorer of your own).`

// publishing is one call of publish.
type publishing struct {
	app             *app
	cluster, source string
	file            string
	empty           bool // no sample at all is meant
}

func (a *app) newPublish() *cobra.Command {
	p := &publishing{app: a}
	c := &cobra.Command{
		Use:   "publish --cluster C --source S NAME=VALUE... | -f FILE",
		Short: "Publish metrics of a cluster",
		Long:  publishLong,
		Example: `  spokewire publish --cluster spoke-1 --source nvidia 'gpu_free=3' 'queue{tier="a"}=7'
  curl -s localhost:9100/metrics | spokewire publish --cluster spoke-1 --source node -f -
  spokewire publish -f events.jsonl`,
		RunE: func(c *cobra.Command, args []string) error { return p.run(c, args) },
	}
	c.Flags().StringVar(&p.cluster, "cluster", "", "cluster that the samples are of")
	c.Flags().StringVar(&p.source, "source", "", "source of the samples within the cluster, any name of yours")
	c.Flags().StringVarP(&p.file, "file", "f", "", "read samples or events from this file (-: standard input)")
	c.Flags().BoolVar(&p.empty, "empty", false, "publish an event without samples if none are given: all series of the source are gone")
	a.addBus(c)
	a.addOutput(c)
	return c
}

func (p *publishing) run(c *cobra.Command, args []string) error {
	switch {
	case p.file == "" && len(args) == 0 && !p.empty:
		return errors.New("nothing to publish: give samples such as 'gpu_free=3', or -f FILE")
	case p.file != "" && len(args) > 0:
		return fmt.Errorf("samples are given both by -f %s and by arguments, want one", p.file)
	case p.file == "":
		return p.publishArguments(c, args)
	}
	in, err := openInput(c, p.file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	isEvents, text, err := sniffEvents(in)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", p.file, err)
	case isEvents:
		return p.publishEvents(c, text)
	}
	return p.publishPrometheus(c, text)
}

func (p *publishing) publishArguments(c *cobra.Command, args []string) error {
	samples := make([]schemas.Sample, len(args))
	for i, arg := range args {
		sample, err := sampletext.ParseSeries(arg)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
		samples[i] = sample
	}
	return p.publishSamples(c, samples)
}

func (p *publishing) publishPrometheus(c *cobra.Command, text io.Reader) error {
	samples, err := sampletext.ParsePrometheus(text)
	if err != nil {
		return fmt.Errorf("%s: %w", p.file, err)
	}
	return p.publishSamples(c, samples)
}

func (p *publishing) publishSamples(c *cobra.Command, samples []schemas.Sample) error {
	if p.cluster == "" || p.source == "" {
		return errors.New("whose samples are they? Give --cluster and --source")
	}
	if len(samples) == 0 && !p.empty {
		return fmt.Errorf("%s holds no samples, which would say that all series of %s are gone: give --empty if they are", p.file, p.source)
	}
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(p.cluster, p.source), &schemas.Metrics{Samples: samples})
	if err != nil {
		return err
	}
	run := p.app.onBus(func(ctx context.Context, c *cobra.Command, b bus, _ []string) error {
		return p.store(ctx, c, b, events.MetricSubject(p.cluster, p.source), e)
	})
	return run(c, nil)
}

// stored is what publish says of an event.
type stored struct {
	Stream   string `json:"stream"`
	Sequence uint64 `json:"sequence"`
	Subject  string `json:"subject"`
	ID       string `json:"id"`
}

func (p *publishing) store(ctx context.Context, c *cobra.Command, b bus, subject string, e event.Event) error {
	ack, err := b.Publish(ctx, subject, e)
	if err != nil {
		return err
	}
	s := stored{Stream: ack.Stream, Sequence: ack.Sequence, Subject: subject, ID: e.ID()}
	return p.app.printLine(c.OutOrStdout(), s, s.write)
}

func (s stored) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "stored as %d in %s (%s)\n", s.Sequence, s.Stream, s.Subject)
	return err
}
