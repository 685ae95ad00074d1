package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/internal/secretfile"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// server is one process of the embedded NATS.
type server struct {
	process, address, route, config, store string
}

// newServers writes the configuration of each server of the embedded NATS.
// All have the same users, with the passwords of an earlier start; several of
// them make a cluster.
func (s *Stack) newServers(ctx context.Context) ([]server, error) {
	servers, addresses, err := s.placeServers(ctx)
	if err != nil {
		return nil, err
	}
	grants := access.Layout{Server: access.DefaultServer(servers[0].address, servers[0].store), Services: access.Services()}
	for i := range s.options.spokes() {
		grants.Spokes = append(grants.Spokes, access.Grant{Cluster: clusterName(i + 1), Sources: []string{spokeSource}})
	}
	passwords, secrets, err := keepPasswords(s.files.passwords(), grants)
	if err != nil {
		return nil, err
	}
	cluster := rand.Text()
	for _, server := range servers {
		grants.Server = server.settings(servers, cluster)
		config, err := access.Config(grants, secrets)
		if err != nil {
			return nil, err
		}
		if err := secretfile.Replace(server.config, []byte(config)); err != nil {
			return nil, err
		}
	}
	s.natsAddress = strings.Join(addresses, ",")
	s.natsURL = func(user string) (string, error) { return passwords.URL(s.natsAddress, user) }
	return servers, nil
}

// placeServers chooses names, addresses and directories.
func (s *Stack) placeServers(ctx context.Context) (servers []server, addresses []string, err error) {
	for i := range max(1, s.options.Servers) {
		process := replicaName(ProcessNATS, i+1)
		address, err := s.keptAddress(ctx, process)
		if err != nil {
			return nil, nil, err
		}
		route, err := child.FreeAddress(ctx)
		if err != nil {
			return nil, nil, err
		}
		added := server{process: process, address: address, route: route, config: s.files.natsConfig(), store: s.files.natsStore()}
		if i > 0 {
			added.config, added.store = s.files.path("nats", "server-"+strconv.Itoa(i+1)+".conf"), s.files.path("nats", "store-"+strconv.Itoa(i+1))
		}
		servers, addresses = append(servers, added), append(addresses, "nats://"+address)
	}
	return servers, addresses, nil
}

func (v server) settings(all []server, password string) access.Server {
	settings := access.DefaultServer(v.address, v.store)
	if len(all) == 1 {
		return settings
	}
	settings.Name = "spokewire-" + v.process
	settings.Cluster = &access.Cluster{Name: "spokewire", Listen: v.route, Password: password}
	for _, other := range all {
		settings.Cluster.Routes = append(settings.Cluster.Routes, other.route)
	}
	return settings
}

// electionPoll is how often it is tried whether the servers of a cluster
// have found each other.
const electionPoll = 250 * time.Millisecond

// onceElected does what a cluster can do only once its servers have elected
// a leader. One server alone does it or fails at once.
func (s *Stack) onceElected(ctx context.Context, do func() error) error {
	ctx, cancel := pause.Within(ctx, readyTimeout)
	defer cancel()
	for {
		err := do()
		if err == nil || s.options.Servers < 2 || errors.Is(err, jetstream.ErrStreamDiffers) {
			return err
		}
		if !pause.For(ctx, electionPoll) {
			return fmt.Errorf("the servers elect no leader: %w: %w", pause.Why(ctx), err)
		}
	}
}

// NATSStore is the directory in which a NATS process keeps its streams, or
// "".
func (s *Stack) NATSStore(process string) string {
	for i := range max(1, s.options.Servers) {
		if replicaName(ProcessNATS, i+1) != process {
			continue
		}
		if i == 0 {
			return s.files.natsStore()
		}
		return s.files.path("nats", "store-"+strconv.Itoa(i+1))
	}
	return ""
}

// Signal sends a signal to a process as it runs now.
func (s *Stack) Signal(process string, signal os.Signal) error {
	c, ok := s.children[process]
	if !ok {
		return fmt.Errorf("the stack has no process %q", process)
	}
	return c.Signal(signal)
}

// Crash ends a process with SIGKILL. It stays down until Continue.
func (s *Stack) Crash(process string) error {
	if err := s.Kill(process); err != nil {
		return err
	}
	return s.Halt(process)
}

// NATSURL is the URL with the credentials of a user of the embedded NATS.
func (s *Stack) NATSURL(user string) (string, error) { return s.natsURL(user) }

// Outbox is the directory of a cluster's outbox.
func (s *Stack) Outbox(cluster string) string { return s.files.outbox(cluster) }

// Detours lead connections another way than straight, so that tests can
// disturb them. Nil leads straight.
type Detours struct {
	// Hub takes the path of the bridge's kubeconfig and returns that of the
	// one to use.
	Hub func(kubeconfig string) (string, error)
	// Spoke takes HOST:PORT of NATS and returns that which the cluster's
	// collector connects to.
	Spoke func(cluster, address string) string
}

// natsHost is HOST:PORT of the first server.
func (s *Stack) natsHost() string {
	first, _, _ := strings.Cut(s.natsAddress, ",")
	return strings.TrimPrefix(first, "nats://")
}
