package broker

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/process/processtest"
)

func TestRunServesUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "server.conf")
	text := "listen: \"127.0.0.1:-1\"\njetstream: {store_dir: \"" + filepath.Join(dir, "store") + "\"}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rt := processtest.Runtime(t)
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, config, rt) }()
	for deadline := time.Now().Add(startTimeout); rt.Health.CheckReady() != nil || time.Now().After(deadline); {
		select {
		case err := <-ended:
			t.Fatalf("Run() ended early: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run() = %v after its context ended, want nil", err)
	}
}

func TestRunNamesWhatIsWrongWithItsConfiguration(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "broken.conf")
	if err := os.WriteFile(broken, []byte("listen: {"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]string{"--config is missing": "", "no such file": "/does/not/exist", "broken.conf": broken} {
		err := Run(t.Context(), config, processtest.Runtime(t))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Run(%q) = %v, want an error with %q", config, err, name)
		}
	}
}
