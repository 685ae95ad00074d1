// Package e2e tests the whole of Spokewire on real parts: every service,
// NATS, the API server and etcd are processes of their own.
package e2e

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"

	"github.com/spokewire/spokewire/cmd/spokewire/cli"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testlog"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/test/difftest/twin"
)

// asProgram makes this test binary behave as the spokewire program, so that
// the processes of a stack run under the race detector too.
const asProgram = "SPOKEWIRE_E2E_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(process.Main(cli.New()))
	}
	// The race detector has each process sleep for a second at its end.
	race := strings.TrimSpace("atexit_sleep_ms=0 " + os.Getenv("GORACE"))
	if err := errors.Join(os.Setenv(asProgram, "1"), os.Setenv("GORACE", race)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// startStack runs a stack for one test. Its logs are printed if the test
// fails.
func startStack(t *testing.T, change func(*stack.Options)) *stack.Stack {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := stack.DefaultOptions()
	o.Executable, o.BinDir, o.DataDir = executable, hubtest.BinDir(), t.TempDir()
	o.Interval = 100 * time.Millisecond
	o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	o.Progress = func(step string) { t.Log(step) }
	change(&o)
	s, err := stack.Up(t.Context(), o)
	if err != nil {
		testlog.Print(t, filepath.Join(o.DataDir, "logs"))
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			testlog.Print(t, filepath.Join(o.DataDir, "logs"))
		}
	})
	return s
}

// operator connects as the stack's operator.
func operator(t *testing.T, s *stack.Stack) *jetstream.Bus {
	t.Helper()
	url, err := s.OperatorURL()
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, url)
}

func connect(t *testing.T, url string) *jetstream.Bus {
	t.Helper()
	bus, err := jetstream.Connect(t.Context(), jetstream.Options{URL: url, Name: "e2e", Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	return bus
}

// hubClients are an administrator's.
type hubClients struct {
	config *rest.Config
	ocm    clusterclient.Interface
	core   kubernetes.Interface
}

// twin is the hub for what both deciders are compared by.
func (h hubClients) twin() twin.Hub { return twin.Hub{OCM: h.ocm, Core: h.core} }

func hubOf(t *testing.T, s *stack.Stack) hubClients {
	t.Helper()
	return hubBy(t, s.Kubeconfig())
}

// hubBy connects as the user of a kubeconfig.
func hubBy(t *testing.T, kubeconfig string) hubClients {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = 1000, 2000
	return hubClients{config: config, ocm: clusterclient.NewForConfigOrDie(config), core: kubernetes.NewForConfigOrDie(config)}
}

// seedOf returns SEED, or a random seed, and says which.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(fmt.Errorf("SEED: %w", err))
		}
		seed = n
	}
	t.Logf("SEED=%d repeats this run", seed)
	return seed
}
