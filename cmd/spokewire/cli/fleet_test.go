package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// seed is one line of testdata/fleet.jsonl.
type seed struct {
	// Ago is how long before now the bus received the event. A real server
	// does not heed it.
	Ago     schemas.Duration
	Age     schemas.Duration // for how long it has waited on its spoke
	Subject string
	Type    string
	Data    json.RawMessage
}

// sow publishes the events of a file of seeds, each after before was called.
func sow(t testing.TB, b events.Publisher, file string, before func(seed)) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		var s seed
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatalf("%s line %d: %v", file, n, err)
		}
		payload, err := schemas.Decode(s.Type, s.Data)
		if err != nil {
			t.Fatalf("%s line %d: %v", file, n, err)
		}
		before(s)
		e, err := events.New(s.Type, sourceOf(t, s.Subject), payload)
		if err != nil {
			t.Fatalf("%s line %d: %v", file, n, err)
		}
		if s.Age > 0 {
			e.SetExtension(events.ExtAge, strconv.FormatInt(time.Duration(s.Age).Milliseconds(), 10))
		}
		if _, err := b.Publish(ctx, s.Subject, e); err != nil {
			t.Fatalf("%s line %d: %v", file, n, err)
		}
	}
}

func sourceOf(t testing.TB, subject string) string {
	t.Helper()
	s, err := events.ParseSubject(subject)
	if err != nil {
		t.Fatal(err)
	}
	if s.Family == events.FamilyMetric || s.Family == events.FamilyBackfill {
		return events.ClusterSource(s.Cluster, s.Name)
	}
	return events.ServiceSource("test")
}

// fleet is a bus in memory with the events of testdata/fleet.jsonl, at noon.
func fleet(t *testing.T) *eventstest.Bus {
	t.Helper()
	b := eventstest.NewBus()
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	sow(t, b, filepath.Join("testdata", "fleet.jsonl"), func(s seed) {
		at := noon.Add(-time.Duration(s.Ago))
		b.SetNow(func() time.Time { return at })
	})
	b.SetNow(func() time.Time { return noon })
	return b
}

// golden compares got with testdata/golden/name, or writes it there where
// UPDATE_GOLDEN is set.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (UPDATE_GOLDEN=1 go test writes it)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s: -want +got\n%s", name, diff)
	}
}
