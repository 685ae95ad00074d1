package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// output runs a program and returns what it printed; its error has what it
// complained about.
func output(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	var complaints strings.Builder
	c.Stderr = &complaints
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(complaints.String()))
	}
	return strings.TrimSpace(string(out)), err
}

func docker(ctx context.Context, args ...string) (string, error) {
	return output(ctx, "docker", args...)
}

// startEngine makes sure that a Docker engine answers. The returned function
// stops what it started.
func startEngine(ctx context.Context, r *report) (func() error, error) {
	nothing := func() error { return nil }
	if _, err := docker(ctx, "info"); err == nil && hasCompose(ctx) {
		return nothing, nil
	}
	if err := install(ctx, r); err != nil {
		return nothing, err
	}
	_, err := docker(ctx, "info")
	if err == nil {
		return nothing, nil
	}
	if os.Geteuid() != 0 {
		return nothing, fmt.Errorf("no Docker engine answers: start it, or join its group (%w)", err)
	}
	return startDaemon(ctx, r)
}

func hasCompose(ctx context.Context) bool {
	if _, err := exec.LookPath("docker-compose"); err == nil {
		return true
	}
	_, err := docker(ctx, "compose", "version")
	return err == nil
}

// install installs Docker where that is asked for: in CI, as root, on Debian.
func install(ctx context.Context, r *report) error {
	_, errClient := exec.LookPath("docker")
	_, errDaemon := exec.LookPath("dockerd")
	reachable := false
	if errClient == nil {
		_, err := docker(ctx, "info")
		reachable = err == nil
	}
	if (errDaemon == nil || reachable) && errClient == nil && hasCompose(ctx) {
		return nil
	}
	_, errApt := exec.LookPath("apt-get")
	if os.Geteuid() != 0 || os.Getenv("CI") == "" || errApt != nil {
		return errors.New("there is no Docker, or no Docker Compose: install them (on Debian: apt-get install docker.io docker-compose), or let this do it as root with CI=true")
	}
	r.say("installing docker.io and docker-compose")
	for _, args := range [][]string{
		{"update", "--quiet"},
		{"install", "--quiet", "--yes", "--no-install-recommends", "docker.io", "docker-compose"},
	} {
		c := exec.CommandContext(ctx, "apt-get", args...)
		c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

const (
	daemonStart = 60 * time.Second
	daemonStop  = 30 * time.Second
)

// startDaemon runs dockerd with its defaults.
func startDaemon(ctx context.Context, r *report) (func() error, error) {
	r.say("starting dockerd")
	dir, err := os.MkdirTemp("", "spokewire-dockerd-")
	if err != nil {
		return nil, err
	}
	logPath := filepath.Join(dir, "dockerd.log")
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c := exec.Command("dockerd") //nolint:noctx // it outlives ctx: stop ends it
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is not for it
	if err := c.Start(); err != nil {
		return nil, err
	}
	var result error
	ended := make(chan struct{})
	go func() {
		result = c.Wait()
		close(ended)
	}()
	stop := func() error {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		select {
		case <-ended:
			return os.RemoveAll(dir)
		case <-time.After(daemonStop):
			return errors.Join(errors.New("dockerd did not end in time"), c.Process.Kill())
		}
	}
	deadline := time.After(daemonStart)
	for {
		if _, err := docker(ctx, "info"); err == nil {
			return stop, nil
		}
		select {
		case <-ended:
			text, _ := os.ReadFile(logPath)
			return nil, fmt.Errorf("dockerd ended: %w: %s", result, text[max(0, len(text)-2000):])
		case <-deadline:
			return nil, errors.Join(fmt.Errorf("dockerd does not answer after %s, its log is %s", daemonStart, logPath), stop())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
