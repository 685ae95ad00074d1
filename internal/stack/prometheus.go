package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spokewire/spokewire/internal/child"
)

func prometheusIn(binDir string) string { return filepath.Join(binDir, "prometheus") }

// startPrometheus runs a Prometheus that scrapes a cluster's workload, and
// returns its URL.
func (s *Stack) startPrometheus(ctx context.Context, cluster, target string) (string, error) {
	dir := s.files.prometheus(cluster)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: %dms, scrape_timeout: %dms}\nscrape_configs: [{job_name: spoke, static_configs: [{targets: [%q]}]}]\n",
		s.options.Interval.Milliseconds(), s.options.Interval.Milliseconds(), target)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return "", err
	}
	address, err := child.FreeAddress(ctx)
	if err != nil {
		return "", err
	}
	err = s.start(child.Program{Name: "prometheus-" + cluster, Path: prometheusIn(s.options.BinDir), Args: []string{
		"--config.file=" + config, "--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.listen-address=" + address,
		"--storage.tsdb.retention.time=1d", "--log.level=warn", "--web.console.templates=" + dir, "--web.console.libraries=" + dir,
	}})
	if err != nil {
		return "", err
	}
	return "http://" + address, waitForListener(ctx, address)
}
