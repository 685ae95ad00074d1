package access_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/spokewire/spokewire/internal/access"
)

const examplePath = "../../deploy/nats/nats.conf"

// exampleLayout is that of the shipped example.
func exampleLayout() access.Layout {
	s := access.DefaultServer("0.0.0.0:4222", "/data")
	s.Monitor = "0.0.0.0:8222"
	s.SyncAlways = true
	s.TLS = &access.TLS{CertFile: "/etc/nats/tls/tls.crt", KeyFile: "/etc/nats/tls/tls.key"}
	return access.Layout{
		Server:   s,
		Services: access.Services(),
		Spokes: []access.Grant{
			{Cluster: "spoke-1", Sources: []string{"prometheus", "kubernetes"}},
			{Cluster: "spoke-2", Sources: []string{"prometheus", "kubernetes"}},
		},
		Collectors: []access.Collector{{Name: "energy", Metrics: []access.Grant{
			{Cluster: "spoke-1", Sources: []string{"energy"}},
			{Cluster: "spoke-2", Sources: []string{"energy"}},
		}}},
		Outsiders: []access.Outsider{
			{Name: "thanos", Metrics: []access.Grant{{Cluster: access.AnyCluster, Sources: []string{"thanos"}}}},
			{Name: "dashboard", Decisions: true},
		},
	}
}

func exampleConfig(t *testing.T) string {
	t.Helper()
	secrets, err := access.Variables(exampleLayout())
	if err != nil {
		t.Fatal(err)
	}
	config, err := access.Config(exampleLayout(), secrets)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestShippedExampleIsCurrent(t *testing.T) {
	t.Parallel()
	want := exampleConfig(t)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(examplePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the layout generates: run UPDATE_GOLDEN=1 go test ./internal/access", examplePath)
	}
}

// The shipped file itself is started, with passwords from the environment and
// only its paths and ports moved.
func TestShippedExampleRuns(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := access.Variables(exampleLayout())
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range secrets {
		t.Setenv(strings.TrimPrefix(variable, "$"), string(hash))
	}
	text, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile := writeCertificate(t)
	url := startServer(t, strings.NewReplacer(
		"/etc/nats/tls/tls.crt", certFile, "/etc/nats/tls/tls.key", keyFile, `"/data"`, `"`+t.TempDir()+`"`,
		"0.0.0.0:4222", "127.0.0.1:-1", "0.0.0.0:8222", "127.0.0.1:-1",
	).Replace(string(text)))
	url, err = access.Passwords{access.Admin: "secret"}.URL(url, access.Admin)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(url, nats.RootCAs(certFile), nats.CustomInboxPrefix(access.InboxPrefix(access.Admin)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if !conn.TLSRequired() {
		t.Error("the server does not ask for TLS")
	}
}

func TestConfigOfAServer(t *testing.T) {
	t.Parallel()
	layout := testLayout(t)
	layout.Server.StoreDir = filepath.Join(t.TempDir(), `a "quoted" \ directory`)
	_, secrets, err := access.Issue(layout, func() string { return "only for a test" })
	if err != nil {
		t.Fatal(err)
	}
	config, err := access.Config(layout, secrets)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	options, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if options.ServerName != layout.Server.Name || options.MaxPayload != 2<<20 || options.StoreDir != layout.Server.StoreDir {
		t.Errorf("the server reads name %q, max payload %d, store %q", options.ServerName, options.MaxPayload, options.StoreDir)
	}
	if strings.Contains(config, "only for a test") {
		t.Error("the configuration holds a password in the clear")
	}
	if len(options.Users) != len(layout.Users()) {
		t.Errorf("the server reads %d users, want %d", len(options.Users), len(layout.Users()))
	}
	again, err := access.Config(layout, secrets)
	if err != nil || again != config {
		t.Errorf("a second configuration differs (%v)", err)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change    func(*access.Layout)
		wantField string
	}{
		"space in the name":       {func(l *access.Layout) { l.Server.Name = "a b" }, "server.name"},
		"no listen":               {func(l *access.Layout) { l.Server.Listen = "" }, "server.listen"},
		"no store":                {func(l *access.Layout) { l.Server.StoreDir = "" }, "server.storeDir"},
		"newline in a path":       {func(l *access.Layout) { l.Server.StoreDir = "a\nb" }, "server holds"},
		"half of TLS":             {func(l *access.Layout) { l.Server.TLS = &access.TLS{CertFile: "x"} }, "server.tls"},
		"no payload":              {func(l *access.Layout) { l.Server.MaxPayload = 0 }, "server.maxPayload"},
		"unknown service":         {func(l *access.Layout) { l.Services = append(l.Services, "mine") }, `services holds "mine"`},
		"service twice":           {func(l *access.Layout) { l.Services = append(l.Services, access.Scorer) }, `"scorer" twice`},
		"spoke twice":             {func(l *access.Layout) { l.Spokes = append(l.Spokes, l.Spokes[0]) }, `"cluster-c1" twice`},
		"spoke of all":            {func(l *access.Layout) { l.Spokes[0].Cluster = access.AnyCluster }, "spokes[0].cluster"},
		"spoke without name":      {func(l *access.Layout) { l.Spokes[1].Cluster = "" }, "spokes[1].cluster"},
		"spoke without sources":   {func(l *access.Layout) { l.Spokes[0].Sources = nil }, "spokes[0].sources"},
		"empty source":            {func(l *access.Layout) { l.Spokes[0].Sources = []string{""} }, "spokes[0].sources"},
		"collector without name":  {func(l *access.Layout) { l.Collectors[0].Name = "" }, "collectors[0].name"},
		"collector of nothing":    {func(l *access.Layout) { l.Collectors[0].Metrics = nil }, "collectors[0].metrics"},
		"collector of everything": {func(l *access.Layout) { l.Collectors[0].Metrics[0].Cluster = "*" }, "collectors[0].metrics[0].cluster"},
		"shared inbox":            {func(l *access.Layout) { l.Spokes[0].Cluster = "collector-energy" }, "hear each other's answers"},
		"outsider without name":   {func(l *access.Layout) { l.Outsiders[0].Name = "" }, "outsiders[0].name"},
		"outsider with nothing":   {func(l *access.Layout) { l.Outsiders[1].Decisions = false }, "outsiders[1]"},
		"outsider's source":       {func(l *access.Layout) { l.Outsiders[0].Metrics[0].Sources = nil }, "outsiders[0].metrics[0].sources"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			layout := testLayout(t)
			tc.change(&layout)
			err := layout.Validate()
			if !errors.Is(err, access.ErrInvalidLayout) || !strings.Contains(err.Error(), tc.wantField) {
				t.Errorf("got %v, want one that names %s", err, tc.wantField)
			}
		})
	}
}

// A name that means something in a subject must not widen a permission.
func TestNamesCannotWidenPermissions(t *testing.T) {
	t.Parallel()
	layout := testLayout(t)
	layout.Spokes = []access.Grant{{Cluster: "a.*", Sources: []string{">", "x\ny"}}}
	for _, u := range layout.Users() {
		if u.Account != access.AccountSpokes {
			continue
		}
		for _, subject := range append(u.Publish, strings.TrimSuffix(u.Subscribe[0], ".>")) {
			if strings.ContainsAny(subject, "*> \n") {
				t.Errorf("user %s has %q", u.Name, subject)
			}
		}
	}
}

func TestConfigNeedsASecretForEveryUser(t *testing.T) {
	t.Parallel()
	layout := testLayout(t)
	secrets, err := access.Variables(layout)
	if err != nil {
		t.Fatal(err)
	}
	delete(secrets, access.Scorer)
	if _, err := access.Config(layout, secrets); err == nil || !strings.Contains(err.Error(), access.Scorer) {
		t.Errorf("got %v, want one that names the scorer", err)
	}
}

func TestVariablesAreNotShared(t *testing.T) {
	t.Parallel()
	layout := testLayout(t)
	layout.Spokes = []access.Grant{{Cluster: "a-b", Sources: []string{"x"}}, {Cluster: "a_b", Sources: []string{"x"}}}
	if _, err := access.Variables(layout); err == nil || !strings.Contains(err.Error(), "SW_PASSWORD_CLUSTER_A_B") {
		t.Errorf("got %v, want one that names the variable", err)
	}
}

func TestPasswordFilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "credentials")
	passwords, _, err := access.Issue(testLayout(t), func() string { return "a/b@c" })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time over the first's files
		if err := passwords.Write(dir, "nats://127.0.0.1:4222"); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != len(passwords) {
		t.Fatalf("%d files for %d users (%v)", len(files), len(passwords), err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v), want 0600", f.Name(), info.Mode(), err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, access.SpokeUser("c2.eu")+".url"))
	if want := "nats://cluster-c2%252Eeu:a%2Fb%40c@127.0.0.1:4222\n"; err != nil || string(text) != want {
		t.Errorf("got %q (%v), want %q", text, err, want)
	}
}
