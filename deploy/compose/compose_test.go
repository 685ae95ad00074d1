package compose_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/stack"
)

// file is compose.yaml as far as the tests read it.
type file struct {
	Services map[string]service        `json:"services"`
	Networks map[string]map[string]any `json:"networks"`
	Volumes  map[string]any            `json:"volumes"`
}

type service struct {
	Image       string            `json:"image"`
	Entrypoint  []string          `json:"entrypoint"`
	Command     []string          `json:"command"`
	Environment map[string]string `json:"environment"`
	User        string            `json:"user"`
	ReadOnly    bool              `json:"read_only"`
	CapDrop     []string          `json:"cap_drop"`
	SecurityOpt []string          `json:"security_opt"`
	MemLimit    string            `json:"mem_limit"`
	Ports       []string          `json:"ports"`
	Networks    []string          `json:"networks"`
	Volumes     []string          `json:"volumes"`
	HealthCheck map[string]any    `json:"healthcheck"`
}

func load(t *testing.T) file {
	t.Helper()
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var f file
	if err := yaml.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Services) != 16 {
		t.Fatalf("compose.yaml has %d services, want 16", len(f.Services))
	}
	return f
}

// once are the services that end after their work.
func once(name string) bool { return name == "prepare" || name == "populate" }

func TestServicesAreConfined(t *testing.T) {
	t.Parallel()
	for name, s := range load(t).Services {
		if s.User != "65532:65532" || !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) ||
			!slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) || s.MemLimit == "" {
			t.Errorf("%s is not confined: %+v", name, s)
		}
		if (s.HealthCheck["test"] != nil) == once(name) {
			t.Errorf("%s: health check %v", name, s.HealthCheck)
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:${SPOKEWIRE_") {
				t.Errorf("%s opens %s, want a port of 127.0.0.1 that a variable names", name, port)
			}
		}
	}
}

// TestOurCommandLinesAreValid has each service's own flags parse its command
// line.
func TestOurCommandLinesAreValid(t *testing.T) {
	t.Parallel()
	found := 0
	for name, s := range load(t).Services {
		if !slices.Equal(s.Entrypoint, []string{"/bin/spokewire", "run"}) {
			continue
		}
		for _, c := range stack.Commands() {
			if c.Name() != s.Command[0] {
				continue
			}
			found++
			if err := c.ParseFlags(s.Command[1:]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if found != 12 {
		t.Errorf("%d services of ours have a command of spokewire run, want 12", found)
	}
}

func TestServicesHaveTheirOwnUserOfTheBus(t *testing.T) {
	t.Parallel()
	found := 0
	for name, s := range load(t).Services {
		path, ok := s.Environment["NATS_URL_FILE"]
		if !ok {
			continue
		}
		found++
		part := strings.TrimSuffix(strings.TrimPrefix(path, "/secrets/"), "/nats-url")
		if want := access.InboxPrefix(part); s.Environment["NATS_INBOX_PREFIX"] != want {
			t.Errorf("%s has inboxes below %s, want %s", name, s.Environment["NATS_INBOX_PREFIX"], want)
		}
		if want := "secrets-" + part + ":/secrets/" + part + ":ro"; !slices.Contains(s.Volumes, want) {
			t.Errorf("%s mounts %v, want %s", name, s.Volumes, want)
		}
		if cluster, ok := strings.CutPrefix(name, "collector-"); ok && !slices.Contains(s.Command, "--cluster="+"spoke-"+cluster) || !ok && part != name {
			t.Errorf("%s has the secrets of %s", name, part)
		}
	}
	if found != 7 {
		t.Errorf("%d services reach the bus, want 7", found)
	}
}

// TestVolumesAndNetworksAreUsed also checks that each volume is mounted on a
// directory that the images have: without one it would belong to root.
func TestVolumesAndNetworksAreUsed(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	f := load(t)
	volumes, networks := map[string]bool{}, map[string]bool{}
	for name, s := range f.Services {
		for _, network := range s.Networks {
			networks[network] = true
		}
		for _, v := range s.Volumes {
			parts := strings.Split(v, ":")
			volumes[parts[0]] = true
			directory := strings.TrimPrefix(parts[1], "/secrets/")
			if !strings.Contains(string(makefile), "rootfs"+parts[1]) && !slices.Contains(strings.Fields(string(makefile)), directory) {
				t.Errorf("%s mounts %s on %s, which the images lack: see image-%% in the Makefile", name, parts[0], parts[1])
			}
		}
	}
	for name := range f.Volumes {
		if !volumes[name] {
			t.Errorf("volume %s is not used", name)
		}
	}
	for name := range f.Networks {
		if !networks[name] {
			t.Errorf("network %s is not used", name)
		}
	}
	if len(volumes) != len(f.Volumes) || len(networks) != len(f.Networks) {
		t.Errorf("%d volumes and %d networks are used, %d and %d are declared", len(volumes), len(networks), len(f.Volumes), len(f.Networks))
	}
}
