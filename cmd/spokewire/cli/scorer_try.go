package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/manifest"
	"github.com/spokewire/spokewire/internal/sampletext"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/internal/trial"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const scorerTestLong = `Score samples with the Scorers of a manifest, without a bus and without a cluster.

The samples are Prometheus text, or OpenMetrics where the file ends with "# EOF".
Where they have times, those of one time are a snapshot of their source, and one
file can hold many. Where they have none, each file is a snapshot, --every after
the one before it. The score is that after the last snapshot; windows such as
that of rate() end there.

Ends with status 1 if an item has no value.`

// trying is one call of scorer test.
type trying struct {
	app            *app
	file           string
	metrics        []string
	labels, claims []string
	every          time.Duration
	each, inputs   bool
}

func (a *app) newScorerTest() *cobra.Command {
	t := &trying{app: a, every: 15 * time.Second}
	c := &cobra.Command{
		Use:   "test -f FILE --metrics FILE...",
		Short: "Try a Scorer on samples from files",
		Long:  scorerTestLong,
		Example: `  spokewire scorer test -f scorer.yaml --metrics samples.prom
  spokewire scorer test -f scorer.yaml --metrics 1.prom --metrics 2.prom --every 30s --each
  curl -s localhost:9100/metrics | spokewire scorer test -f scorer.yaml --metrics - --inputs`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.run(c) },
	}
	c.Flags().StringVarP(&t.file, "file", "f", "", "manifest with Scorers (-: standard input)")
	c.Flags().StringArrayVar(&t.metrics, "metrics", nil, "file with samples (repeatable, oldest first; -: standard input)")
	c.Flags().DurationVar(&t.every, "every", t.every, "how far apart the files are where samples have no times")
	c.Flags().StringArrayVar(&t.labels, "label", nil, "label of the cluster, NAME=VALUE (repeatable)")
	c.Flags().StringArrayVar(&t.claims, "claim", nil, "cluster claim, NAME=VALUE (repeatable)")
	c.Flags().BoolVar(&t.each, "each", false, "show the score after each snapshot, not only after the last")
	c.Flags().BoolVar(&t.inputs, "inputs", false, "show what each item was computed from")
	a.addOutput(c)
	return c
}

func (t *trying) run(c *cobra.Command) error {
	scorers, err := t.scorers(c)
	if err != nil {
		return err
	}
	snapshots, err := t.snapshots(c)
	if err != nil {
		return err
	}
	cluster, err := t.cluster()
	if err != nil {
		return err
	}
	outcomes, missing, err := t.score(scorers, cluster, snapshots)
	if err != nil {
		return err
	}
	if err := t.app.print(c.OutOrStdout(), outcomes, func(w io.Writer) error { return t.write(w, outcomes) }); err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("there is no value for %s: see above", list(missing))
	}
	return nil
}

// scorers reads the manifest, whose expressions must compile.
func (t *trying) scorers(c *cobra.Command) ([]*schemas.Scorer, error) {
	switch {
	case t.file == "":
		return nil, errors.New("which Scorer? Give -f FILE, or -f - for standard input")
	case len(t.metrics) == 0:
		return nil, errors.New("which samples? Give --metrics FILE, or --metrics - for standard input")
	case t.every <= 0:
		return nil, fmt.Errorf("--every is %s, want more than 0", t.every)
	}
	objects, err := readManifest(c, t.file)
	if err != nil {
		return nil, err
	}
	scorers := make([]*schemas.Scorer, len(objects))
	for i, o := range objects {
		if scorers[i], err = scorerOf(o); err != nil {
			return nil, fmt.Errorf("%s: document at line %d: %w", t.file, o.Line, err)
		}
	}
	return scorers, nil
}

func scorerOf(o manifest.Object) (*schemas.Scorer, error) {
	s, ok := o.Payload.(*schemas.Scorer)
	if !ok {
		return nil, fmt.Errorf("%s is no Scorer", o)
	}
	return s, nil
}

func (t *trying) snapshots(c *cobra.Command) ([]trial.Snapshot, error) {
	var pages []trial.Page
	for _, file := range t.metrics {
		page, err := readPage(c, file)
		if err != nil {
			return nil, fmt.Errorf("--metrics %s: %w", file, err)
		}
		pages = append(pages, page)
	}
	snapshots, err := trial.Snapshots(pages, t.every, time.Now().UTC().Truncate(time.Second))
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	return snapshots, nil
}

func readPage(c *cobra.Command, file string) (trial.Page, error) {
	page := trial.Page{Name: file}
	in, err := openInput(c, file)
	if err != nil {
		return page, err
	}
	defer func() { _ = in.Close() }() // it was only read
	samples, err := sampletext.ParseTimed(in)
	for _, s := range samples {
		page.Samples = append(page.Samples, trial.Sample(s))
	}
	return page, err
}

func (t *trying) cluster() (cluster trial.Cluster, err error) {
	if cluster.Labels, err = trial.Pairs(t.labels); err != nil {
		return cluster, fmt.Errorf("--label %w", err)
	}
	if cluster.Claims, err = trial.Pairs(t.claims); err != nil {
		return cluster, fmt.Errorf("--claim %w", err)
	}
	return cluster, nil
}

// score returns the outcomes to show, and the items that have no value after
// the last snapshot.
func (t *trying) score(scorers []*schemas.Scorer, cluster trial.Cluster, snapshots []trial.Snapshot) (shown []trial.Outcome, missing []string, err error) {
	compiler, err := score.NewCompiler()
	if err != nil {
		return nil, nil, err
	}
	for _, s := range scorers {
		program, err := compiler.Compile(s)
		if err != nil {
			return nil, nil, err
		}
		outcomes, err := trial.Run(program, cluster, snapshots)
		if err != nil {
			return nil, nil, fmt.Errorf("--metrics: %w", err)
		}
		last := outcomes[len(outcomes)-1]
		for _, it := range last.Items {
			if it.Value == nil {
				missing = append(missing, last.Scorer+"/"+it.Name)
			}
		}
		if !t.each {
			outcomes = outcomes[len(outcomes)-1:]
		}
		shown = append(shown, outcomes...)
	}
	return shown, missing, nil
}

func (t *trying) write(w io.Writer, outcomes []trial.Outcome) error {
	rows := table.New(w, "AT", "SCORER", "ITEM", "VALUE", "RAW", "REASON", "MESSAGE")
	for _, o := range outcomes {
		for _, it := range o.Items {
			rows.Add(o.At.Format("15:04:05.999"), o.Scorer, it.Name, valueOr(it.Value, ""), raw(it.Raw), it.Reason, it.Message)
		}
	}
	if err := rows.Flush(); err != nil || !t.inputs {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	rows = table.New(w, "AT", "SCORER", "ITEM", "INPUT", "NAME", "VALUE", "POINTS")
	for _, o := range outcomes {
		for _, it := range o.Items {
			for _, in := range it.Inputs {
				points := strings.TrimPrefix(fmt.Sprint(in.Points), "0")
				rows.Add(o.At.Format("15:04:05.999"), o.Scorer, it.Name, in.Kind, in.Name, in.Value, points)
			}
		}
	}
	return rows.Flush()
}
