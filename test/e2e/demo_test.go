package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigclient "sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"

	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/internal/tour"
)

func TestTheTourShowsWhatItPromises(t *testing.T) {
	t.Parallel()
	s := startStack(t, func(o *stack.Options) { o.Spokes, o.SIG = 3, true })
	var shown strings.Builder
	result, err := tour.Run(t.Context(), s, 2*time.Minute, &shown)
	t.Log(shown.String())
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(`^demo: placements=1 moved=2 first=[0-9]+ ok$`); !want.MatchString(result.String()) {
		t.Errorf("the last line is %q, want %s", result, want)
	}
	for _, want := range []string{"spoke-1", "spoke-2", "spoke-3", "demo-free-slots", "ScoreChanged"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("the tour does not show %q", want)
		}
	}
	testwait.Within(t, 20*time.Second, func() string { return speaksSIG(t, s) })
}

// TestTheScoringTourShowsWhatItPromises: manifests in the shape of OCM's
// samples, with a query, through a real Prometheus in each cluster and a real
// scoring service, beside the hub and inside of the clusters.
func TestTheScoringTourShowsWhatItPromises(t *testing.T) {
	t.Parallel()
	s := startStack(t, func(o *stack.Options) { o.Spokes, o.Prometheus = 3, true })
	var shown strings.Builder
	result, err := tour.Scoring(t.Context(), s, 2*time.Minute, &shown)
	t.Log(shown.String())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := result.String(), "scoring: scorers=2 scores=6 stale=0 failed=0"; got != want {
		t.Errorf("the last line is %q, want %q", got, want)
	}
	rateSpoke(t, s)
	for _, want := range []string{"spoke-3   demo-internal   demo_internal", "from prometheus.monitoring.svc:9090", "ScoreChanged"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("the tour does not show %q", want)
		}
	}
}

// speaksSIG says what SIG-Multicluster's objects of the tour's Placement lack.
func speaksSIG(t *testing.T, s *stack.Stack) string {
	t.Helper()
	hub := sigclient.NewForConfigOrDie(hubOf(t, s).config).ApisV1alpha1()
	slice, err := hub.PlacementDecisions("default").Get(t.Context(), "demo-train-slice-0", metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	if len(slice.Decisions) != 1 {
		return fmt.Sprintf("the slice has %d clusters, want 1", len(slice.Decisions))
	}
	_, err = hub.ClusterProfiles("default").Get(t.Context(), slice.Decisions[0].ClusterProfileRef.Name, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	return ""
}
