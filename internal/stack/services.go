package stack

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strconv"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/child"
)

// startServices runs the hub services and waits until each is ready.
func (s *Stack) startServices(ctx context.Context) error {
	services := []string{access.Scorer, access.PlacementWriter}
	if s.options.Hub != None {
		services = append(services, access.HubBridge)
	}
	var names []string
	for _, service := range services {
		for i := range max(1, s.options.Replicas) {
			name := replicaName(service, i+1)
			if err := s.startService(ctx, service, name); err != nil {
				return err
			}
			names = append(names, name)
		}
	}
	// It keeps nothing, so a second one would only cost memory here.
	if err := s.startService(ctx, access.Inquiry, access.Inquiry); err != nil {
		return err
	}
	names = append(names, access.Inquiry)
	for _, name := range names {
		if err := s.Ready(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// replicaName is the process name of replica i, from 1, of a service: the
// first bears the service's name.
func replicaName(service string, i int) string {
	if i == 1 {
		return service
	}
	return service + "-" + strconv.Itoa(i)
}

func (s *Stack) startService(ctx context.Context, service, name string) error {
	env, err := s.natsEnv(service, service)
	if err != nil {
		return err
	}
	address, err := child.FreeAddress(ctx)
	if err != nil {
		return err
	}
	args := []string{service, "--listen", address}
	if service == access.HubBridge {
		args = append(args, "--kubeconfig", s.hub.bridge, "--namespace", s.hub.lease, "--identity", s.identity(name))
		if s.options.SIG {
			args = append(args, "--sig-placement-decisions", "--write-cluster-profiles")
		}
	}
	s.health[name] = "http://" + address
	return s.start(s.self(name, env, args...))
}

// identity names a replica in the Lease: the same after a restart, and
// another one than that of any other stack.
func (s *Stack) identity(name string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	digest := sha256.Sum256([]byte(s.files))
	return fmt.Sprintf("%s-%s-%x", name, host, digest[:4])
}
