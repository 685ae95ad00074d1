// Package tour shows what Spokewire does on a running local stack. It types
// the commands that a user would type, and reads what it shows and checks
// from the hub.
package tour

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"

	"github.com/spokewire/spokewire/internal/stack"
)

const (
	namespace = "default"
	placement = "demo-train"
	// jobs fill the slots of one cluster; at 20 ms and more a block they run
	// for the rest of the tour.
	jobs, blocks = 8, 10_000
	moves        = 2
)

var (
	//go:embed scorer.yaml
	scorerYAML string
	//go:embed placement.yaml
	placementYAML string
)

// Result sums the tour up.
type Result struct {
	Placements, Moved int
	// First is from applying the Placement to its first decision on the hub.
	First time.Duration
}

func (r Result) String() string {
	return fmt.Sprintf("demo: placements=%d moved=%d first=%d ok", r.Placements, r.Moved, r.First.Milliseconds())
}

// Run gives the tour on s, within timeout. It returns an error unless all
// that it shows happened.
func Run(ctx context.Context, s *stack.Stack, timeout time.Duration, w io.Writer) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	g, err := newGuide(s, w)
	if err != nil {
		return Result{}, err
	}
	return g.tour(ctx)
}

// guide walks through a tour.
type guide struct {
	w          io.Writer
	stack      *stack.Stack
	hub        clusterclient.Interface
	objects    dynamic.Interface
	executable string
}

func newGuide(s *stack.Stack, w io.Writer) (*guide, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	if err != nil {
		return nil, err
	}
	client, err := clusterclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	executable, err := os.Executable()
	return &guide{w: w, stack: s, hub: client, objects: objects, executable: executable}, err
}

func (g *guide) tour(ctx context.Context) (Result, error) {
	g.say("Three clusters run, each with eight slots for jobs. Their collectors scrape them.")
	if err := g.run(ctx, "", "get", "clusters"); err != nil {
		return Result{}, err
	}
	g.say("A Scorer turns a metric into a score for every cluster.")
	if err := g.run(ctx, scorerYAML, "apply", "-f", "-"); err != nil {
		return Result{}, err
	}
	if err := g.waitForScores(ctx, "demo-free-slots"); err != nil {
		return Result{}, err
	}
	if err := g.run(ctx, "", "get", "scores"); err != nil {
		return Result{}, err
	}
	g.say("A Placement asks for the cluster with the best score.")
	applied := time.Now()
	if err := g.run(ctx, placementYAML, "apply", "-f", "-"); err != nil {
		return Result{}, err
	}
	winner, seen, err := g.waitForWinner(ctx, placement, "")
	if err != nil {
		return Result{}, err
	}
	first := seen.Sub(applied)
	g.say("The hub has a PlacementDecision %s after the Placement was applied: %s.", first.Round(time.Millisecond), winner)
	for range moves {
		if winner, err = g.move(ctx, placement, winner); err != nil {
			return Result{}, err
		}
	}
	g.say("What happened, in the words of the last decision, and what the bridge wrote for it:")
	if err := g.run(ctx, "", "explain", "placement", namespace+"/"+placement); err != nil {
		return Result{}, err
	}
	if err := g.run(ctx, "", "get", "placements"); err != nil {
		return Result{}, err
	}
	return Result{Placements: 1, Moved: moves, First: first}, nil
}

// move gives the winner work and waits for another one to win.
func (g *guide) move(ctx context.Context, placement, winner string) (string, error) {
	g.say("%s gets %d jobs, one for each slot.", winner, jobs)
	if err := g.giveWork(ctx, winner); err != nil {
		return "", err
	}
	given := time.Now()
	next, seen, err := g.waitForWinner(ctx, placement, winner)
	if err != nil {
		return "", err
	}
	g.say("The PlacementDecision on the hub moved from %s to %s, %s after the work was given.",
		winner, next, seen.Sub(given).Round(time.Millisecond))
	return next, nil
}

// giveWork starts jobs on a cluster's workload.
func (g *guide) giveWork(ctx context.Context, cluster string) error {
	url := fmt.Sprintf("%s/work?jobs=%d&blocks=%d", g.stack.SpokeURL(cluster), jobs, blocks)
	fmt.Fprintf(g.w, "$ curl -X POST '%s'\n", url)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("give work to %s: %w", cluster, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		return fmt.Errorf("give work to %s: %s", cluster, response.Status)
	}
	return nil
}

// say prints a line between blank ones.
func (g *guide) say(format string, args ...any) {
	fmt.Fprintf(g.w, "\n# "+format+"\n", args...)
}

// run types a spokewire command, with stdin as its input.
func (g *guide) run(ctx context.Context, stdin string, args ...string) error {
	fmt.Fprintf(g.w, "$ spokewire %s\n", strings.Join(args, " "))
	if stdin != "" {
		fmt.Fprint(g.w, indent(stdin))
	}
	url, err := g.stack.OperatorURL()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, g.executable, args...)
	command.Stdin = strings.NewReader(stdin)
	command.Env = append(os.Environ(), "NATS_URL="+url, "KUBECONFIG="+g.stack.Kubeconfig())
	var stderr bytes.Buffer
	command.Stdout, command.Stderr = g.w, &stderr
	if err := command.Run(); err != nil {
		return errors.Join(fmt.Errorf("spokewire %s: %w", strings.Join(args, " "), err), errors.New(stderr.String()))
	}
	return nil
}

func indent(text string) string {
	return "    " + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n    "), "    ")
}
