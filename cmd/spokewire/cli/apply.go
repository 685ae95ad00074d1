package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/manifest"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const applyLong = `Ask for Scorers, Placements and DynamicScorers over the bus.

FILE holds one or more YAML or JSON documents (- is standard input). All are
checked before the first is published: fields, bounds, and that a Scorer's
expressions compile.

A Scorer or a DynamicScorer is picked up by the scorer service at once. A
Placement is created on the hub by hub-bridge, and apply waits for its answer:
what the API server refuses is an error. What was created on the hub belongs to
the hub and is not touched.`

// requester is the source attribute of what people ask for.
const requester = "cli"

func (a *app) newApply() *cobra.Command {
	file, wait := "", true
	c := &cobra.Command{
		Use:     "apply -f FILE",
		Short:   "Ask for Scorers, Placements and DynamicScorers over the bus",
		Long:    applyLong,
		Example: "  spokewire apply -f scorer.yaml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return errors.New("what should be applied? Give -f FILE, or -f - for standard input")
			}
			objects, err := readManifest(c, file)
			if err != nil {
				return err
			}
			run := a.onBus(func(ctx context.Context, c *cobra.Command, b bus, _ []string) error {
				return a.applyAll(ctx, c.OutOrStdout(), b, objects, wait)
			})
			return run(c, nil)
		},
	}
	c.Flags().StringVarP(&file, "file", "f", "", "manifest (-: standard input)")
	c.Flags().BoolVar(&wait, "wait", wait, "wait until the hub has taken each Placement")
	a.addBus(c)
	a.addOutput(c)
	return c
}

func readManifest(c *cobra.Command, file string) ([]manifest.Object, error) {
	text, err := readInput(c, file)
	if err != nil {
		return nil, err
	}
	objects, err := parseManifest(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return objects, nil
}

// parseManifest parses text and compiles what is in it.
func parseManifest(text []byte) ([]manifest.Object, error) {
	objects, err := manifest.Parse(text)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if err := compile(o); err != nil {
			return nil, fmt.Errorf("document at line %d: %s: %w", o.Line, o, err)
		}
	}
	return objects, nil
}

func compile(o manifest.Object) error {
	if policy, ok := o.Payload.(*schemas.PlacementPolicy); ok {
		return placement.CheckPolicy(&policy.Spec)
	}
	scorer, ok := o.Payload.(*schemas.Scorer)
	if !ok {
		return nil
	}
	compiler, err := score.NewCompiler()
	if err != nil {
		return err
	}
	_, err = compiler.Compile(scorer)
	return err
}

func (a *app) applyAll(ctx context.Context, w io.Writer, b bus, objects []manifest.Object, wait bool) error {
	for _, o := range objects {
		if err := refuseHubBorn(ctx, b, o.Kind, o.Namespace, o.Name); err != nil {
			return err
		}
	}
	for _, o := range objects {
		e, err := events.New(o.Kind.EventType, events.ServiceSource(requester), o.Payload)
		if err != nil {
			return fmt.Errorf("%s: %w", o, err)
		}
		r := request{object: o.String(), subject: o.Kind.Subject(o.Namespace, o.Name), event: e}
		if wait && o.Kind.Bridged {
			r.receipts = receiptsOf(o.Namespace, o.Name)
		}
		done, err := r.do(ctx, b)
		if err != nil {
			return err
		}
		if err := a.printLine(w, done, done.write); err != nil {
			return err
		}
	}
	return nil
}

// originAnnotation marks a Placement that was born on the bus.
const originAnnotation, originBus = "spokewire.dev/origin", "bus"

// refuseHubBorn refuses an object that was created on the hub: two owners
// would undo each other's changes.
func refuseHubBorn(ctx context.Context, b bus, kind manifest.Kind, namespace, name string) error {
	if !kind.OnHub {
		return nil
	}
	seen, err := lastOf[schemas.Payload](ctx, b, events.StreamHub, kind.HubSubject(namespace, name))
	switch {
	case errors.Is(err, events.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	switch p := seen.Value.(type) {
	case *schemas.Deleted:
		return nil
	case *schemas.Placement:
		if p.Annotations[originAnnotation] == originBus {
			return nil
		}
	}
	return fmt.Errorf("%s was created on the hub and belongs to it: change or delete it there (kubectl), or choose another name", kind.Describe(namespace, name))
}

// request is one event on SW_CONFIG.
type request struct {
	object, subject string
	event           event.Event
	options         []events.PublishOption
	receipts        string // where to wait for the answer; empty: do not
}

// requested is what apply and delete say of a request.
type requested struct {
	Object   string           `json:"object"`
	Stream   string           `json:"stream"`
	Sequence uint64           `json:"sequence"`
	ID       string           `json:"id"`
	Deleted  bool             `json:"deleted,omitempty"`
	Receipt  *schemas.Receipt `json:"receipt,omitempty"`
}

func (r *requested) write(w io.Writer) error {
	what := "requested"
	if r.Deleted {
		what = "deletion requested"
	}
	if r.Receipt != nil {
		what = r.Receipt.Outcome
	}
	_, err := fmt.Fprintf(w, "%s: %s (%d in %s)\n", r.Object, what, r.Sequence, r.Stream)
	return err
}
