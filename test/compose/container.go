package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// container is what is checked of `docker inspect`.
type container struct {
	Name  string
	State struct {
		Status   string
		ExitCode int
		Health   *struct{ Status string }
	}
	Config     struct{ User string }
	HostConfig struct {
		ReadonlyRootfs bool
		Privileged     bool
		CapDrop        []string
		CapAdd         []string
		SecurityOpt    []string
		Memory         int64
		PidsLimit      *int64
		PortBindings   map[string][]struct{ HostIP, HostPort string }
		RestartPolicy  struct{ Name string }
	}
	Mounts []struct{ Type, Name, Destination string }
}

// once says that a service ends after it has done its work.
func (c container) once() bool {
	return strings.Contains(c.Name, "prepare") || strings.Contains(c.Name, "populate")
}

// services is how many compose.yaml has.
const services = 16

func (p *project) inspect(ctx context.Context) ([]container, error) {
	ids, err := p.containers(ctx)
	if err != nil {
		return nil, err
	}
	if len(ids) != services {
		return nil, fmt.Errorf("%d containers, want %d", len(ids), services)
	}
	out, err := docker(ctx, append([]string{"inspect"}, ids...)...)
	if err != nil {
		return nil, err
	}
	var list []container
	return list, json.Unmarshal([]byte(out), &list)
}

// each joins what check finds wrong with each container.
func (p *project) each(ctx context.Context, check func(container) []string) error {
	list, err := p.inspect(ctx)
	errs := []error{err}
	for _, c := range list {
		for _, fault := range check(c) {
			errs = append(errs, errors.New(c.Name+" "+fault))
		}
	}
	return errors.Join(errs...)
}

func (p *project) healthy(ctx context.Context) error {
	return p.each(ctx, func(c container) []string {
		switch {
		case c.once() && (c.State.Status != "exited" || c.State.ExitCode != 0):
			return []string{fmt.Sprintf("is %s with status %d, want it done", c.State.Status, c.State.ExitCode)}
		case !c.once() && (c.State.Health == nil || c.State.Health.Status != "healthy"):
			return []string{fmt.Sprintf("is %s with health %v", c.State.Status, c.State.Health)}
		}
		return nil
	})
}

func (p *project) confined(ctx context.Context) error {
	return p.each(ctx, func(c container) (faults []string) {
		for fault, found := range map[string]bool{
			"runs as root":              c.Config.User == "" || strings.HasPrefix(c.Config.User, "0") || strings.HasPrefix(c.Config.User, "root"),
			"can write its root":        !c.HostConfig.ReadonlyRootfs,
			"is privileged":             c.HostConfig.Privileged,
			"has capabilities":          !slices.Contains(c.HostConfig.CapDrop, "ALL") || len(c.HostConfig.CapAdd) > 0,
			"may gain privileges":       !slices.Contains(c.HostConfig.SecurityOpt, "no-new-privileges:true"),
			"has no memory limit":       c.HostConfig.Memory == 0,
			"has no limit of processes": c.HostConfig.PidsLimit == nil || *c.HostConfig.PidsLimit <= 0,
			"does not restart":          !c.once() && c.HostConfig.RestartPolicy.Name != "unless-stopped",
			"mounts what is no named volume": slices.ContainsFunc(c.Mounts, func(m struct{ Type, Name, Destination string }) bool {
				return m.Type != "volume" || !strings.HasPrefix(m.Name, p.name)
			}),
			"has the authorities' keys":       !strings.Contains(c.Name, "prepare") && slices.ContainsFunc(c.Mounts, func(m struct{ Type, Name, Destination string }) bool { return m.Destination == "/authority" }),
			"has more than one part's secret": !strings.Contains(c.Name, "prepare") && secrets(c) > 1,
		} {
			if found {
				faults = append(faults, fault)
			}
		}
		slices.Sort(faults)
		return faults
	})
}

func secrets(c container) int {
	n := 0
	for _, m := range c.Mounts {
		if strings.HasPrefix(m.Destination, "/secrets") {
			n++
		}
	}
	return n
}

func (p *project) local(ctx context.Context) error {
	open := 0
	err := p.each(ctx, func(c container) (faults []string) {
		for port, bindings := range c.HostConfig.PortBindings {
			for _, b := range bindings {
				open++
				if b.HostIP != "127.0.0.1" {
					faults = append(faults, fmt.Sprintf("opens %s on %q", port, b.HostIP))
				}
			}
		}
		return faults
	})
	if want := len(published()); err == nil && open != want {
		err = fmt.Errorf("%d ports are open, want %d", open, want)
	}
	return err
}

// private looks at the modes of all secrets, in a tar of them: an image from
// scratch has no ls.
func (p *project) private(ctx context.Context) error {
	prepare, err := p.container(ctx, "prepare")
	if err != nil {
		return err
	}
	files := 0
	for _, dir := range []string{"/secrets", "/authority"} {
		headers, err := archive(ctx, prepare, dir)
		if err != nil {
			return err
		}
		for _, h := range headers {
			top := strings.Trim(h.Name, "/") == strings.Trim(dir, "/") && dir == "/secrets" // the mounts' parent holds nothing itself
			if mode := h.FileInfo().Mode().Perm(); !top && mode&0o077 != 0 {
				return fmt.Errorf("%s has mode %o", h.Name, mode)
			}
			if h.FileInfo().Mode().IsRegular() {
				files++
			}
		}
	}
	if files < 20 {
		return fmt.Errorf("only %d secrets were found", files)
	}
	return nil
}
