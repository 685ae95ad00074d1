// Package blackbox checks a running stack by nothing but what its users
// have: the spokewire and nats programs, and the hub's API. It knows not
// whether the stack runs in containers or as processes.
package blackbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Target is the stack to check. It has clusters spoke-1, spoke-2 and spoke-3
// with a collector each, and no Scorer or Placement named blackbox.
type Target struct {
	// NATSURL is the operator's, Kubeconfig the path of an administrator's.
	NATSURL, Kubeconfig string
	// Spokewire and NATS are paths of programs.
	Spokewire, NATS string
	// OCM says that OCM's own placement controller runs.
	OCM bool
	// Parts are what Crash takes.
	Parts []string
	// Crash ends a part as kill -9 does. Something starts it again.
	Crash func(ctx context.Context, part string) error
	// Cycle stops the whole stack and starts it again on its data, and
	// returns how to reach it now.
	Cycle func(ctx context.Context) (Target, error)
}

// Check is one thing that must hold. Checks run in order, each on what those
// before it left.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// suite is the checks' common state.
type suite struct {
	target Target
	hub    *hub
	// turn counts the changes of rank, so that each has values of its own.
	turn int
}

// How long a check waits for the stack: settle for what should take a
// second, recovery for what starts processes again.
const (
	settle   = 20 * time.Second
	recovery = 90 * time.Second
	poll     = 50 * time.Millisecond
)

// Checks returns the checks of a target.
func Checks(target Target) ([]Check, error) {
	s := &suite{target: target}
	var err error
	if s.hub, err = newHub(target.Kubeconfig); err != nil {
		return nil, err
	}
	checks := []Check{
		{"collectors bring metrics of every cluster", s.collectorsReport},
		{"the bus takes no wrong password", s.busIsClosed},
		{"the hub takes no stranger", s.hubIsClosed},
		{"metrics published with the stock nats client are kept", s.publishWithNATS},
		{"a Scorer and a Placement become a decision on the hub", s.decide},
		{"scores are on the hub", s.scoresOnHub},
		{"watch shows a decision move", s.watch},
		{"the stock nats client reads the decision", s.subscribeWithNATS},
		{"explain says why", s.explain},
		{"a Scorer that cannot work is refused", s.refuse},
		{"doctor finds all well", s.doctor},
		{"bad input is kept with its reason and changes nothing", s.keepBadInput},
	}
	if target.OCM {
		checks = append(checks, Check{"OCM decides what is left to it, from the same scores", s.native})
	}
	for _, part := range target.Parts {
		checks = append(checks, Check{"decisions move after kill -9 of " + part, func(ctx context.Context) error { return s.crash(ctx, part) }})
	}
	return append(checks,
		Check{"everything is there after a stop and a start", s.cycle},
		Check{"what was applied can be deleted", s.remove},
	), nil
}

// spokewire runs the command line and returns its standard output.
func (s *suite) spokewire(ctx context.Context, args ...string) (string, error) {
	return run(s.command(ctx, s.target.Spokewire, args...))
}

func (s *suite) nats(ctx context.Context, args ...string) (string, error) {
	return run(s.command(ctx, s.target.NATS, args...))
}

func (s *suite) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Env = append(os.Environ(), "NATS_URL="+s.target.NATSURL, "KUBECONFIG="+s.target.Kubeconfig)
	return c
}

// run returns what the command printed; its error has what it complained
// about.
func run(c *exec.Cmd) (string, error) {
	var complaints strings.Builder
	c.Stderr = &complaints
	out, err := c.Output()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w: %s", c.Path, strings.Join(c.Args[1:], " "), err, strings.TrimSpace(complaints.String()))
	}
	return string(out), nil
}

// get reads `spokewire get WHAT -o json` into list.
func (s *suite) get(ctx context.Context, what string, list any) error {
	out, err := s.spokewire(ctx, "get", what, "-o", "json")
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), list)
}

// eventually tries until it works, and returns the last error if it does not
// within the time.
func eventually(ctx context.Context, within time.Duration, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for last := errors.New("not tried"); ; {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", within, last)
		case <-time.After(poll):
		}
	}
}
