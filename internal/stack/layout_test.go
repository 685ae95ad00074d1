package stack

import (
	"errors"
	"os"
	"testing"
)

func TestTheWayIntoAStackInContainers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := ReadEnv(dir); !errors.Is(err, ErrNeverRan) {
		t.Errorf("ReadEnv of an empty directory: %v, want ErrNeverRan", err)
	}
	const exports = "export NATS_URL='nats://127.0.0.1:4222'\n"
	if err := os.WriteFile(EnvFile(dir), []byte(exports), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadEnv(dir); err != nil || string(got) != exports {
		t.Errorf("ReadEnv: %q, %v, want %q", got, err, exports)
	}
}
