package process_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

func TestTheBusIsNamedByAFile(t *testing.T) {
	server := eventstest.RunServer(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := map[string]struct {
		url, file string
		wantError string
	}{
		"file":              {file: write("good", server.URL()+"\n")},
		"URL goes first":    {url: server.URL(), file: write("bad", "nats://127.0.0.1:1")},
		"neither":           {wantError: "no NATS server is named"},
		"file is not there": {file: filepath.Join(dir, "nothing"), wantError: "NATS_URL_FILE"},
		"file is empty":     {file: write("empty", "\n"), wantError: "is empty"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("NATS_URL", tt.url)
			t.Setenv("NATS_URL_FILE", tt.file)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			bus, err := process.DefaultBusOptions().Connect(ctx, processtest.Runtime(t))
			if tt.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantError) {
					t.Fatalf("error %v, want %q", err, tt.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			bus.Close()
		})
	}
}
