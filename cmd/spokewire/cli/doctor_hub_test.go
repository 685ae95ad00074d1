package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spokewire/spokewire/internal/checkup"
	"github.com/spokewire/spokewire/internal/checkup/hublook"
	"github.com/spokewire/spokewire/internal/hub/fleettest"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/testwait"
)

// otherVersion has a resource served in another version alone.
const otherVersion = `[{"op": "add", "path": "/spec/versions/-", "value":
	{"name": "v1", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
	{"op": "replace", "path": "/spec/versions/0/served", "value": false}]`

// TestDoctorOnAHub runs doctor beside a real API server, which the script
// brings into disorder by the real kubectl.
func TestDoctorOnAHub(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t, 0).Hub
	nobody, err := server.User("nobody")
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := filepath.Abs(filepath.Join("..", "..", "..", "deploy", "k8s", "hub-bridge"))
	if err != nil {
		t.Fatal(err)
	}
	s := newScripted(t)
	until := func(what string, ok func(*checkup.Hub) bool) {
		testwait.Eventually(t, what, func() bool { return ok(hublook.Look(t.Context(), server.Config)) })
	}
	looked := func(h *checkup.Hub) bool { return h.Fault == "" && h.Unready == nil }
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "hub"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			prompt(e)
			e.Setenv("NATS_URL", s.url)
			e.Setenv("KUBECONFIG", server.Kubeconfig)
			e.Setenv("PATH", e.Getenv("PATH")+string(os.PathListSeparator)+hubtest.BinDir())
			e.Setenv("NOBODY", nobody)
			e.Setenv("HUB_BRIDGE", manifests)
			e.Setenv("OTHER_VERSION", otherVersion)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// restart returns once the API server is gone, ready once it is back.
			"restart": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Check(server.Kill())
				until("the API server is gone", func(h *checkup.Hub) bool { return !looked(h) })
			},
			"ready": func(*testscript.TestScript, bool, []string) { until("the API server is ready", looked) },
			// missing waits until two resources are not served any more.
			"missing": func(*testscript.TestScript, bool, []string) {
				until("two resources are missing", func(h *checkup.Hub) bool { return looked(h) && len(h.Missing) == 2 })
			},
		},
	})
}
