package stack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/secretfile"
)

// PrepareOptions of the files for a stack in containers.
type PrepareOptions struct {
	// Dir is where to write, see deployed.
	Dir    string
	Spokes int
	// NATS, Etcd and Hub are HOST:PORT as the containers reach them.
	NATS, Etcd, Hub string
	// OperatorNATS and OperatorHub are HOST:PORT as the machine around the
	// containers reaches them.
	OperatorNATS, OperatorHub string
}

// DefaultPrepareOptions are those of deploy/compose.
func DefaultPrepareOptions() PrepareOptions {
	return PrepareOptions{
		Dir: "/", Spokes: 3,
		NATS: "nats:4222", Etcd: "etcd:2379", Hub: "kube-apiserver:6443",
		OperatorNATS: "127.0.0.1:14222", OperatorHub: "127.0.0.1:16443",
	}
}

// AddFlags adds the options to fs.
func (o *PrepareOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Dir, "dir", o.Dir, "directory that holds authority/ and secrets/")
	fs.IntVar(&o.Spokes, "spokes", o.Spokes, "clusters that get a user on the bus")
	fs.StringVar(&o.NATS, "nats", o.NATS, "HOST:PORT of NATS for the services")
	fs.StringVar(&o.Etcd, "etcd", o.Etcd, "HOST:PORT of etcd for the API server")
	fs.StringVar(&o.Hub, "hub", o.Hub, "HOST:PORT of the API server for the services")
	fs.StringVar(&o.OperatorNATS, "operator-nats", o.OperatorNATS, "HOST:PORT of NATS for the operator")
	fs.StringVar(&o.OperatorHub, "operator-hub", o.OperatorHub, "HOST:PORT of the API server for the operator")
}

// Validate names the flag that is wrong.
func (o PrepareOptions) Validate() error {
	if o.Spokes < 0 || o.Spokes > maxSpokes {
		return fmt.Errorf("--spokes is %d, want 0 to %d", o.Spokes, maxSpokes)
	}
	for _, f := range []struct{ flag, address string }{
		{"nats", o.NATS}, {"etcd", o.Etcd}, {"hub", o.Hub}, {"operator-nats", o.OperatorNATS}, {"operator-hub", o.OperatorHub},
	} {
		if _, _, err := splitAddress(f.address); err != nil {
			return fmt.Errorf("--%s: %w", f.flag, err)
		}
	}
	return nil
}

// prepareCommand is the command line of the process that writes the files.
func prepareCommand() *cobra.Command {
	o := DefaultPrepareOptions()
	c := process.Command("prepare", "Write the certificates, passwords and configuration of a stack in containers", o.AddFlags,
		func(_ context.Context, rt process.Runtime) error {
			if err := Prepare(o, time.Now()); err != nil {
				return err
			}
			rt.Log.Info("wrote certificates, passwords and configuration", "dir", o.Dir)
			return nil
		})
	c.Hidden = true
	return c
}

// Prepare writes what the parts of a stack need before they can start. Done
// again, it keeps authorities, keys and passwords, and makes everything else
// anew out of them.
func Prepare(o PrepareOptions, now time.Time) error {
	if err := o.Validate(); err != nil {
		return err
	}
	d := deployed(o.Dir)
	if err := d.private(d.authority()); err != nil {
		return err
	}
	if err := d.prepareHub(o, now); err != nil {
		return err
	}
	return d.prepareNATS(o)
}

// prepareNATS writes the server's configuration and each user's URL.
func (d deployed) prepareNATS(o PrepareOptions) error {
	_, port, err := splitAddress(o.NATS)
	if err != nil {
		return err
	}
	server := access.DefaultServer("0.0.0.0:"+port, natsStore)
	server.Monitor = natsMonitor
	grants := access.Layout{Server: server, Services: access.Services()}
	for i := range o.Spokes {
		grants.Spokes = append(grants.Spokes, access.Grant{Cluster: clusterName(i + 1), Sources: []string{spokeSource}})
	}
	passwords, secrets, err := keepPasswords(filepath.Join(d.authority(), "passwords.json"), grants)
	if err != nil {
		return err
	}
	config, err := access.Config(grants, secrets)
	if err != nil {
		return err
	}
	if err := d.secret(ProcessNATS, "server.conf", []byte(config)); err != nil {
		return err
	}
	return d.writeURLs(o, passwords)
}

// userURL is the file of a part that holds a user's URL of a server.
type userURL struct{ part, file, server, user string }

// writeURLs gives each part its own user's URL and no other.
func (d deployed) writeURLs(o PrepareOptions, passwords access.Passwords) error {
	inside, outside := "nats://"+o.NATS, "nats://"+o.OperatorNATS
	urls := []userURL{
		{partPopulate, fileAdmin, inside, access.Admin},
		{partPopulate, fileReadAdmin, inside, access.ReadAdmin},
		{partOperator, fileURL, outside, access.Operator},
	}
	for _, service := range access.Services() {
		urls = append(urls, userURL{service, fileURL, inside, service})
	}
	for i := range o.Spokes {
		cluster := clusterName(i + 1)
		urls = append(urls, userURL{cluster, fileURL, inside, access.SpokeUser(cluster)})
	}
	for _, u := range urls {
		url, err := passwords.URL(u.server, u.user)
		if err != nil {
			return err
		}
		if err := d.secret(u.part, u.file, []byte(url+"\n")); err != nil {
			return err
		}
	}
	return nil
}

// keepPasswords issues the layout's passwords, those of an earlier time again,
// which the file of that path has.
func keepPasswords(path string, l access.Layout) (access.Passwords, access.Secrets, error) {
	kept := access.Passwords{}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, nil, err
	default:
		if err := json.Unmarshal(text, &kept); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	// Issue asks for one password a user, in the order of the users.
	users, next := l.Users(), 0
	passwords, secrets, err := access.Issue(l, func() string {
		next++
		if p := kept[users[next-1].Name]; p != "" {
			return p
		}
		return rand.Text()
	})
	if err != nil {
		return nil, nil, err
	}
	text, err = json.MarshalIndent(passwords, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	return passwords, secrets, secretfile.Replace(path, text)
}
