package stack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spokewire/spokewire/internal/stack"
)

// prepared writes the files of a stack in containers.
func prepared(t *testing.T, dir string, change func(*stack.PrepareOptions)) map[string]string {
	t.Helper()
	o := stack.DefaultPrepareOptions()
	o.Dir = dir
	if change != nil {
		change(&o)
	}
	if err := stack.Prepare(o, time.Now()); err != nil {
		t.Fatal(err)
	}
	return files(t, dir)
}

// files reads every file and checks that its owner alone can.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || path == dir || path == filepath.Join(dir, "secrets") {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		if entry.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		texts[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestPreparingAgainKeepsWhatOthersKnow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := prepared(t, dir, nil), prepared(t, dir, nil)
	for name := range first {
		kept := strings.HasPrefix(name, "authority/") || strings.HasSuffix(name, "-url") || strings.HasSuffix(name, "ca.crt") || strings.Contains(name, "tokens.")
		renewed := strings.HasSuffix(name, "server.crt") || strings.HasSuffix(name, "kubeconfig")
		switch {
		case kept && first[name] != second[name]:
			t.Errorf("%s has changed", name)
		case renewed && first[name] == second[name]:
			t.Errorf("%s was not made anew", name)
		}
	}
	more := prepared(t, dir, func(o *stack.PrepareOptions) { o.Spokes, o.OperatorNATS = 4, "127.0.0.1:1" })
	if more["secrets/spoke-1/nats-url"] != first["secrets/spoke-1/nats-url"] || more["secrets/spoke-4/nats-url"] == "" {
		t.Error("a cluster more changes the password of another, or gets none")
	}
	if got := more["secrets/operator/nats-url"]; !strings.HasSuffix(got, "@127.0.0.1:1\n") {
		t.Error("another port does not reach the operator's URL")
	}
}

func TestEveryPartGetsItsOwnSecretsOnly(t *testing.T) {
	t.Parallel()
	texts := prepared(t, t.TempDir(), nil)
	owners := map[string][]string{}
	for name, text := range texts {
		if strings.HasPrefix(name, "authority/") {
			continue
		}
		if strings.Contains(text, texts["authority/hub.key"]) || strings.Contains(text, texts["authority/etcd.key"]) {
			t.Errorf("%s holds the key of an authority", name)
		}
		if strings.HasSuffix(name, "-url") {
			owners[text] = append(owners[text], name)
		}
	}
	if len(owners) != 10 {
		t.Errorf("%d URLs, want those of 4 services, 3 clusters, 2 admins and the operator: %v", len(owners), owners)
	}
	for _, names := range owners {
		if len(names) > 1 {
			t.Errorf("%v share a password", names)
		}
	}
}

func TestWhatIsPreparedIsValid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	prepared(t, dir, nil)
	options, err := server.ProcessConfigFile(filepath.Join(dir, "secrets", "nats", "server.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if options.Port != 4222 || options.HTTPHost != "127.0.0.1" || options.StoreDir != "/data/nats" {
		t.Errorf("nats-server listens on port %d, tells of its health on %s and stores in %s", options.Port, options.HTTPHost, options.StoreDir)
	}
	for part, want := range map[string]string{
		"operator": "https://127.0.0.1:16443", "populate": "https://kube-apiserver:6443",
		"hub-bridge": "https://kube-apiserver:6443", "ocm-placement": "https://kube-apiserver:6443",
	} {
		config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "secrets", part, "kubeconfig"))
		if err != nil {
			t.Fatal(err)
		}
		if config.Host != want {
			t.Errorf("%s finds the hub at %s, want %s", part, config.Host, want)
		}
	}
}

func TestPrepareNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change    func(*stack.PrepareOptions)
		wantError string
	}{
		"spokes":  {func(o *stack.PrepareOptions) { o.Spokes = 101 }, "--spokes is 101, want 0 to 100"},
		"no port": {func(o *stack.PrepareOptions) { o.NATS = "nats" }, "--nats: "},
		"no host": {func(o *stack.PrepareOptions) { o.OperatorHub = ":6443" }, `--operator-hub: ":6443": want HOST:PORT`},
		"no dir":  {func(o *stack.PrepareOptions) { o.Dir = "/dev/null" }, "/dev/null"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := stack.DefaultPrepareOptions()
			o.Dir = t.TempDir()
			tt.change(&o)
			if err := stack.Prepare(o, time.Now()); err == nil || !strings.Contains(err.Error(), tt.wantError) {
				t.Errorf("error %v, want %q", err, tt.wantError)
			}
		})
	}
}

func TestACorruptAuthorityIsNotReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	prepared(t, dir, nil)
	if err := os.WriteFile(filepath.Join(dir, "authority", "hub.crt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := stack.DefaultPrepareOptions()
	o.Dir = dir
	if err := stack.Prepare(o, time.Now()); err == nil || !strings.Contains(err.Error(), "hub.crt") {
		t.Errorf("error %v, want one that names hub.crt", err)
	}
}
