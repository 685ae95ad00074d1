package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/hub"
	"github.com/spokewire/spokewire/internal/process"
)

// PopulateOptions say what to create in NATS and on the hub of a stack in
// containers.
type PopulateOptions struct {
	// Dir is where Prepare has written.
	Dir    string
	CRDDir string
	Spokes int
}

// DefaultPopulateOptions are those of deploy/compose.
func DefaultPopulateOptions() PopulateOptions {
	return PopulateOptions{Dir: "/", CRDDir: "/crds", Spokes: 3}
}

// AddFlags adds the options to fs.
func (o *PopulateOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Dir, "dir", o.Dir, "directory that holds secrets/")
	fs.StringVar(&o.CRDDir, "crds", o.CRDDir, "directory of OCM's resource definitions")
	fs.IntVar(&o.Spokes, "spokes", o.Spokes, "clusters to create")
}

// populateCommand is the command line of the process that creates it all.
func populateCommand() *cobra.Command {
	o := DefaultPopulateOptions()
	c := process.Command("populate", "Create the streams, and the hub's definitions, rights and clusters, of a stack in containers", o.AddFlags,
		func(ctx context.Context, rt process.Runtime) error { return Populate(ctx, o, rt) })
	c.Hidden = true
	return c
}

// Populate creates the streams and their mirrors, and on the hub OCM's
// resource definitions, the rights of the bridge and of OCM's placement
// controller, and the clusters. What is there is kept.
func Populate(ctx context.Context, o PopulateOptions, rt process.Runtime) error {
	if o.Spokes < 0 || o.Spokes > maxSpokes {
		return fmt.Errorf("--spokes is %d, want 0 to %d", o.Spokes, maxSpokes)
	}
	d := deployed(o.Dir)
	s := &Stack{options: Options{Log: rt.Log}, natsURL: d.adminURL}
	if err := s.createStreams(ctx, access.InboxPrefix(access.Admin)); err != nil {
		return fmt.Errorf("streams: %w", err)
	}
	if err := s.createMirrors(ctx); err != nil {
		return fmt.Errorf("mirrors: %w", err)
	}
	rt.Log.Info("created the streams and their mirrors")
	if err := d.populateHub(ctx, o); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	rt.Log.Info("created the hub's definitions, rights and clusters", "clusters", o.Spokes)
	return nil
}

// adminURL is the URL of one of the two users who create streams.
func (d deployed) adminURL(user string) (string, error) {
	file := fileAdmin
	if user == access.ReadAdmin {
		file = fileReadAdmin
	}
	text, err := os.ReadFile(filepath.Join(d.secrets(partPopulate), file))
	return strings.TrimSpace(string(text)), err
}

func (d deployed) populateHub(ctx context.Context, o PopulateOptions) error {
	admin, err := clientcmd.BuildConfigFromFlags("", filepath.Join(d.secrets(partPopulate), fileKubeconfig))
	if err != nil {
		return err
	}
	admin.Timeout = readyTimeout
	if err := hub.InstallDefinitions(ctx, admin, o.CRDDir); err != nil {
		return err
	}
	if err := hub.InstallDynamicScoring(ctx, admin); err != nil {
		return err
	}
	if err := GrantBridge(ctx, admin, bridgeUser); err != nil {
		return err
	}
	core, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	if err := ensureNamespace(ctx, core, ocmNamespace); err != nil {
		return err
	}
	if err := grantOCM(ctx, core, ocmUser); err != nil {
		return err
	}
	return CreateFleet(ctx, admin, o.Spokes)
}
