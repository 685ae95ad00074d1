package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spokewire/spokewire/pkg/events"
)

// AnyCluster, as the cluster of an outsider's grant, stands for all.
const AnyCluster = "*"

// DefaultMaxPayload is the largest message that the server takes: room for a
// decision at 10,000 clusters, several times over.
const DefaultMaxPayload = 2 << 20

// ErrInvalidLayout is wrapped by every error of Layout.Validate.
var ErrInvalidLayout = errors.New("invalid access layout")

// Layout is what a configuration is generated from.
type Layout struct {
	Server Server
	// Services are hub services, out of Services().
	Services []string
	// Spokes get a user each.
	Spokes []Grant
	// Collectors get a user each in the account SPOKES.
	Collectors []Collector
	// Outsiders get a user each in the account USERS.
	Outsiders []Outsider
}

// Grant lets a user publish metrics of some sources of a cluster.
type Grant struct {
	Cluster string
	// Sources are listed one by one: a user that may publish under any source
	// could fill the server with subjects.
	Sources []string
}

// Collector is one that runs beside the hub and speaks for clusters of which
// it knows something: prices, carbon intensity, an inventory.
type Collector struct {
	Name string
	// Metrics are what it may publish, cluster by cluster.
	Metrics []Grant
}

// Outsider is a user who is neither a spoke nor the operator.
type Outsider struct {
	Name string
	// Metrics are what the user may publish; a Cluster may be AnyCluster.
	Metrics []Grant
	// Decisions lets the user read the mirror of the decisions, with the
	// JetStream domain ReadDomain.
	Decisions bool
}

// Server holds the settings of the server itself.
type Server struct {
	// Name is the server's name. Default spokewire.
	Name string
	// Listen is HOST:PORT for clients; port -1 takes a free one.
	Listen string
	// Monitor is HOST:PORT for the monitoring endpoint. Empty: none.
	Monitor string
	// StoreDir is where JetStream keeps its files.
	StoreDir string
	// MaxPayload is in bytes. Default DefaultMaxPayload.
	MaxPayload int
	// SyncAlways has every stored message synced to disk before it is
	// acknowledged. Dear, and needed where power loss must lose nothing.
	SyncAlways bool
	TLS        *TLS
	// Cluster joins the server to others. Nil: it is alone.
	Cluster *Cluster
}

// Cluster is how a server finds the others that hold the streams with it.
type Cluster struct {
	// Name is the same for all of them; the servers' names differ.
	Name string
	// Listen is HOST:PORT for the others.
	Listen string
	// Routes are HOST:PORT of all of them.
	Routes []string
	// Password is what they know each other by: letters and digits.
	Password string
}

// TLS names the files of the server's certificate.
type TLS struct{ CertFile, KeyFile string }

// DefaultServer returns the settings of a server on listen with storeDir.
func DefaultServer(listen, storeDir string) Server {
	return Server{Name: "spokewire", Listen: listen, StoreDir: storeDir, MaxPayload: DefaultMaxPayload}
}

// Validate names the field that is wrong. Every error wraps
// ErrInvalidLayout.
func (l Layout) Validate() error {
	if err := l.Server.validate(); err != nil {
		return err
	}
	for _, s := range l.Services {
		if _, known := services[s]; !known {
			return invalid("services", "holds %q, known are %s", s, strings.Join(Services(), ", "))
		}
	}
	for i, s := range l.Spokes {
		field := fmt.Sprintf("spokes[%d]", i)
		if s.Cluster == AnyCluster {
			return invalid(field+".cluster", "is %q: a spoke is one cluster", s.Cluster)
		}
		if err := s.validate(field); err != nil {
			return err
		}
	}
	for i, c := range l.Collectors {
		if err := c.validate(fmt.Sprintf("collectors[%d]", i)); err != nil {
			return err
		}
	}
	for i, o := range l.Outsiders {
		if err := o.validate(fmt.Sprintf("outsiders[%d]", i)); err != nil {
			return err
		}
	}
	return l.unique()
}

func (l Layout) unique() error {
	seen, inboxes := map[string]bool{}, map[string]string{}
	for _, u := range l.Users() {
		if seen[u.Name] {
			return invalid("users", "holds %q twice: name each service, spoke, collector and outsider once", u.Name)
		}
		seen[u.Name] = true
		if len(u.Subscribe) == 0 {
			continue
		}
		inbox := u.Account + " " + u.Subscribe[0]
		if other := inboxes[inbox]; other != "" {
			return invalid("users", "%s and %s would hear each other's answers on %s: rename one", other, u.Name, u.Subscribe[0])
		}
		inboxes[inbox] = u.Name
	}
	return nil
}

func (s Server) validate() error {
	for field, value := range map[string]string{"server.name": s.Name, "server.listen": s.Listen, "server.storeDir": s.StoreDir} {
		if value == "" {
			return invalid(field, "is empty")
		}
	}
	if strings.Contains(s.Name, " ") {
		return invalid("server.name", "is %q: the server takes no spaces", s.Name)
	}
	texts := []string{s.Name, s.Listen, s.Monitor, s.StoreDir}
	if s.TLS != nil {
		if s.TLS.CertFile == "" || s.TLS.KeyFile == "" {
			return invalid("server.tls", "needs both a certificate and a key file")
		}
		texts = append(texts, s.TLS.CertFile, s.TLS.KeyFile)
	}
	if i := slices.IndexFunc(texts, unprintable); i >= 0 {
		return invalid("server", "holds %q, which has a control character", texts[i])
	}
	if s.Cluster != nil {
		if err := s.Cluster.validate(); err != nil {
			return err
		}
	}
	if s.MaxPayload <= 0 {
		return invalid("server.maxPayload", "is %d, want bytes, for instance %d", s.MaxPayload, DefaultMaxPayload)
	}
	return nil
}

func (c *Cluster) validate() error {
	for field, value := range map[string]string{"name": c.Name, "listen": c.Listen, "password": c.Password} {
		if value == "" || unprintable(value) || strings.Contains(value, " ") {
			return invalid("server.cluster."+field, "is %q, want a word", value)
		}
	}
	if len(c.Routes) == 0 || slices.ContainsFunc(c.Routes, unprintable) {
		return invalid("server.cluster.routes", "are %q, want HOST:PORT of every server", c.Routes)
	}
	return nil
}

func (g Grant) validate(field string) error {
	if g.Cluster == "" {
		return invalid(field+".cluster", "is empty")
	}
	if len(g.Sources) == 0 {
		return invalid(field+".sources", "is empty: list the sources that %s publishes", g.Cluster)
	}
	if slices.Contains(g.Sources, "") {
		return invalid(field+".sources", "holds an empty name")
	}
	return nil
}

func (c Collector) validate(field string) error {
	if c.Name == "" {
		return invalid(field+".name", "is empty")
	}
	if len(c.Metrics) == 0 {
		return invalid(field+".metrics", "is empty: list the clusters that %s speaks for", c.Name)
	}
	for i, g := range c.Metrics {
		at := fmt.Sprintf("%s.metrics[%d]", field, i)
		if g.Cluster == AnyCluster {
			return invalid(at+".cluster", "is %q: list the clusters one by one", g.Cluster)
		}
		if err := g.validate(at); err != nil {
			return err
		}
	}
	return nil
}

func (o Outsider) validate(field string) error {
	if o.Name == "" {
		return invalid(field+".name", "is empty")
	}
	if len(o.Metrics) == 0 && !o.Decisions {
		return invalid(field, "%s may do nothing: grant metrics or decisions", o.Name)
	}
	for i, g := range o.Metrics {
		if err := g.validate(fmt.Sprintf("%s.metrics[%d]", field, i)); err != nil {
			return err
		}
	}
	return nil
}

// subjects are what the grant allows to publish, within family.
func (g Grant) subjects(family string) []string {
	cluster := AnyCluster
	if g.Cluster != AnyCluster {
		cluster = events.EncodeToken(g.Cluster)
	}
	list := make([]string, 0, len(g.Sources))
	for _, source := range g.Sources {
		list = append(list, "sw."+family+"."+cluster+"."+events.EncodeToken(source))
	}
	return list
}

func unprintable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0
}

func invalid(field, format string, args ...any) error {
	return fmt.Errorf("%w: %s %s", ErrInvalidLayout, field, fmt.Sprintf(format, args...))
}
