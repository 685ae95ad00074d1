package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spokewire/spokewire/test/blackbox"
)

// project is a Compose project of its own: other names, ports and images
// than those of a stack that a user runs.
type project struct {
	root, name, tag string
	// data is where up writes what the operator needs.
	data string
	env  []string
}

// images are those that compose.yaml names.
func images() []string {
	return []string{"spokewire", "nats-server", "etcd", "kube-apiserver", "placement"}
}

// published are the variables of compose.yaml that name ports.
func published() []string {
	return []string{"SPOKEWIRE_NATS_PORT", "SPOKEWIRE_HUB_PORT", "SPOKEWIRE_SPOKE_1_PORT", "SPOKEWIRE_SPOKE_2_PORT", "SPOKEWIRE_SPOKE_3_PORT"}
}

func newProject(ctx context.Context, root string) (*project, error) {
	data, err := os.MkdirTemp("", "spokewire-compose-")
	if err != nil {
		return nil, err
	}
	name := "spokewire-test-" + strconv.Itoa(os.Getpid())
	p := &project{root: root, name: name, tag: "test-" + strconv.Itoa(os.Getpid()), data: filepath.Join(data, "operator")}
	p.env = append(os.Environ(), "COMPOSE_PROJECT_NAME="+name, "SPOKEWIRE_TAG="+p.tag, "SPOKEWIRE_COMPOSE_DATA="+p.data)
	var config net.ListenConfig
	for _, variable := range published() {
		listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		// Open until all are chosen, so that no port is chosen twice.
		defer func() { _ = listener.Close() }()
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			return nil, err
		}
		p.env = append(p.env, variable+"="+port)
	}
	return p, nil
}

// do runs a program in the repository with the project's environment.
func (p *project) do(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = p.root, p.env
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out[max(0, len(out)-4000):])
	}
	return string(out), err
}

func (p *project) build(ctx context.Context) error {
	_, err := p.do(ctx, "make", "images", "TAG="+p.tag)
	return err
}

func (p *project) up(ctx context.Context) error {
	_, err := p.do(ctx, "deploy/compose/up")
	return err
}

// target is how the operator reaches the stack: as `spokewire env` says.
func (p *project) target(ctx context.Context) (blackbox.Target, error) {
	t := blackbox.Target{
		Spokewire: filepath.Join(p.root, "bin", "spokewire"), NATS: filepath.Join(p.root, "bin", "nats"), OCM: true,
		Parts: []string{"scorer", "placement-writer", "hub-bridge", "nats", "kube-apiserver"}, Crash: p.crash, Cycle: p.cycle,
	}
	out, err := p.do(ctx, "sh", "-c", `eval "$(bin/spokewire env --data "$SPOKEWIRE_COMPOSE_DATA")" && echo "$NATS_URL" && echo "$KUBECONFIG"`)
	if err != nil {
		return t, err
	}
	var ok bool
	if t.NATSURL, t.Kubeconfig, ok = strings.Cut(strings.TrimSpace(out), "\n"); !ok {
		return t, fmt.Errorf("spokewire env printed %q, want NATS_URL and KUBECONFIG", out)
	}
	return t, nil
}

// cycle takes the containers away and makes them again on the same volumes.
func (p *project) cycle(ctx context.Context) (blackbox.Target, error) {
	if _, err := p.do(ctx, "deploy/compose/down"); err != nil {
		return blackbox.Target{}, err
	}
	left, err := p.containers(ctx)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("containers after down: %v", left)
	}
	if err != nil {
		return blackbox.Target{}, err
	}
	if err := p.up(ctx); err != nil {
		return blackbox.Target{}, err
	}
	return p.target(ctx)
}

// crash kills the process of a service, as the kernel would when memory is
// short. Where this is not the machine of the engine, it has the engine kill
// and start the container.
func (p *project) crash(ctx context.Context, service string) error {
	id, err := p.container(ctx, service)
	if err != nil {
		return err
	}
	pid, err := docker(ctx, "inspect", "--format", "{{.State.Pid}}", id)
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(pid); err == nil && n > 1 && p.runs(n, service) && syscall.Kill(n, syscall.SIGKILL) == nil {
		return nil
	}
	if _, err := docker(ctx, "kill", id); err != nil {
		return err
	}
	_, err = docker(ctx, "start", id)
	return err
}

// runs reports whether the process on this machine is a container's and not
// another one of the same number.
func (p *project) runs(pid int, service string) bool {
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.HasPrefix(string(command), "/bin/") && strings.Contains(string(command), service)
}

// containers are the ids of the project's containers that the filters match.
func (p *project) containers(ctx context.Context, filters ...string) ([]string, error) {
	args := []string{"ps", "--all", "--quiet", "--filter", p.label()}
	for _, f := range filters {
		args = append(args, "--filter", f)
	}
	out, err := docker(ctx, args...)
	return strings.Fields(out), err
}

// container is the id of a service's only container.
func (p *project) container(ctx context.Context, service string) (string, error) {
	ids, err := p.containers(ctx, "label=com.docker.compose.service="+service)
	if err == nil && len(ids) != 1 {
		err = fmt.Errorf("%s has containers %v, want one", service, ids)
	}
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

func (p *project) label() string { return "label=com.docker.compose.project=" + p.name }

// remove takes everything away that the run made, and says what is left.
func (p *project) remove(ctx context.Context) error {
	_, err := p.do(ctx, "deploy/compose/down", "--volumes")
	errs := []error{err}
	for _, image := range images() {
		// Without error where it was not built.
		_, err := docker(ctx, "rmi", "--force", "spokewire/"+image+":"+p.tag)
		errs = append(errs, err)
	}
	for what, list := range map[string][]string{
		"containers": {"ps", "--all", "--quiet", "--filter", p.label()},
		"volumes":    {"volume", "ls", "--quiet", "--filter", p.label()},
		"networks":   {"network", "ls", "--quiet", "--filter", p.label()},
		"images":     {"images", "--quiet", "--filter", "reference=spokewire/*:" + p.tag},
	} {
		left, err := docker(ctx, list...)
		if err == nil && left != "" {
			err = fmt.Errorf("%s are left: %s", what, left)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, os.RemoveAll(filepath.Dir(p.data)))...)
}

// showLogs prints the end of each container's log.
func (p *project) showLogs(ctx context.Context) {
	ids, err := p.containers(ctx)
	if err != nil {
		fmt.Println(err)
	}
	for _, id := range ids {
		state, _ := docker(ctx, "inspect", "--format", "{{.Name}}: {{.State.Status}}, started again {{.RestartCount}} times", id)
		fmt.Println(state)
		c := exec.CommandContext(ctx, "docker", "logs", "--tail", "15", id)
		c.Stdout, c.Stderr = os.Stdout, os.Stdout
		_ = c.Run() // what can be shown is shown
	}
}
