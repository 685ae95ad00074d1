package faults

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// controlPlane is the hub's API server and etcd. Unlike the services they
// are not started again by themselves when they end.
type controlPlane struct {
	dataDir string
	daemons map[string]*daemon
}

// daemon is one process that this one started, by itself or through the
// stack.
type daemon struct {
	name string
	args []string
	pid  int
	cmd  *exec.Cmd // nil for the one that the stack started
}

const (
	apiServer = "kube-apiserver"
	etcd      = "etcd"
)

func findControlPlane(t *testing.T, dataDir string) *controlPlane {
	t.Helper()
	p := &controlPlane{dataDir: dataDir, daemons: map[string]*daemon{}}
	for _, name := range []string{apiServer, etcd} {
		d, err := findChild(name)
		if err != nil {
			t.Fatal(err)
		}
		p.daemons[name] = d
	}
	t.Cleanup(func() {
		for _, name := range []string{apiServer, etcd} {
			if d := p.daemons[name]; d.cmd != nil {
				_ = d.end()
			}
		}
	})
	return p
}

// findChild finds the youngest living child of this process that runs a
// program of that name, with its arguments.
func findChild(name string) (*daemon, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var found *daemon
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[0] == "Z" || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err != nil {
			continue
		}
		args := strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00")
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || filepath.Base(args[0]) != name || found != nil && found.pid > pid {
			continue
		}
		found = &daemon{name: name, args: args, pid: pid}
	}
	if found == nil {
		return nil, fmt.Errorf("no process of ours runs %s", name)
	}
	return found, nil
}

// kill ends a daemon with SIGKILL; revive starts it again.
func (p *controlPlane) kill(name string) error { return p.daemons[name].end() }

func (p *controlPlane) revive(name string) error {
	d := p.daemons[name]
	output, err := os.OpenFile(filepath.Join(p.dataDir, "logs", name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()
	d.cmd = exec.Command(d.args[0], d.args[1:]...)
	d.cmd.Stdout, d.cmd.Stderr = output, output
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.cmd.Start(); err != nil {
		return err
	}
	d.pid = d.cmd.Process.Pid
	return nil
}

func (d *daemon) end() error {
	if err := syscall.Kill(d.pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", d.name, err)
	}
	if d.cmd != nil {
		_ = d.cmd.Wait() // it was killed
		return nil
	}
	for range 1000 { // the stack's harness reaps it
		if syscall.Kill(d.pid, 0) != nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("%s does not end", d.name)
}

// peakMemory is the most that a process ever had in memory, in bytes; 0 if
// it has ended.
func peakMemory(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if text, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
