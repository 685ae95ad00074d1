// Command compose tests the stack in containers on a real Docker engine: it
// builds the images, starts everything, runs the checks of test/blackbox and
// some on the containers themselves, and removes all that it made. Its last
// line is "compose: checks=N failed=N".
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spokewire/spokewire/test/blackbox"
)

func main() { os.Exit(run()) }

// limit bounds the whole run, checkLimit one check.
const (
	limit      = 20 * time.Minute
	checkLimit = 4 * time.Minute
)

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := &report{began: time.Now()}
	if err := test(ctx, r); err != nil {
		r.done("the run", err)
	}
	fmt.Printf("compose: checks=%d failed=%d\n", r.checks, r.failed)
	if r.failed > 0 || r.checks == 0 {
		return 1
	}
	return 0
}

// report counts checks and tells of each.
type report struct {
	began          time.Time
	checks, failed int
}

func (r *report) done(name string, err error) {
	r.checks++
	outcome := "ok"
	if err != nil {
		r.failed++
		outcome = "FAILED: " + err.Error()
	}
	r.say("%s: %s", name, outcome)
}

func (r *report) say(format string, args ...any) {
	fmt.Printf("%6.1fs  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// test runs everything. What it started is gone when it returns.
func test(ctx context.Context, r *report) (err error) {
	root, err := repository()
	if err != nil {
		return err
	}
	stopEngine, err := startEngine(ctx, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopEngine()) }()
	p, err := newProject(ctx, root)
	if err != nil {
		return err
	}
	// What is removed is removed after Ctrl-C too.
	defer func() { r.done("nothing is left behind", p.remove(context.WithoutCancel(ctx))) }()
	r.say("building the images")
	if err := p.build(ctx); err != nil {
		return err
	}
	r.say("starting project %s", p.name)
	if err := p.up(ctx); err != nil {
		p.showLogs(ctx)
		return err
	}
	r.done("every part is healthy", p.healthy(ctx))
	r.done("containers are confined", p.confined(ctx))
	r.done("ports are open on 127.0.0.1 only", p.local(ctx))
	r.done("secrets are private", p.private(ctx))
	if !p.outside(ctx, r) {
		p.showLogs(ctx)
	}
	return nil
}

// outside runs the checks that the stack of processes passes too.
func (p *project) outside(ctx context.Context, r *report) bool {
	target, err := p.target(ctx)
	if err != nil {
		r.done("the way in", err)
		return false
	}
	checks, err := blackbox.Checks(target)
	if err != nil {
		r.done("the way in", err)
		return false
	}
	for _, check := range checks {
		ctx, cancel := context.WithTimeout(ctx, checkLimit)
		err := check.Run(ctx)
		cancel()
		r.done(check.Name, err)
		if err != nil {
			return false // each check rests on those before it
		}
	}
	return true
}

// repository is the directory of the Makefile, here or above.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "deploy", "compose", "compose.yaml")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("run this in the repository")
		}
	}
}
