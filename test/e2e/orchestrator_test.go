package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/difftest"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/internal/testwait"
)

// TestOrchestrators: what others do with our decisions.
func TestOrchestrators(t *testing.T) {
	t.Parallel()
	start := time.Now()
	o := startOrchestra(t)
	t.Logf("all is up after %s", time.Since(start))
	t.Run("side by side", func(t *testing.T) {
		t.Run("a ManifestWorkReplicaSet follows as documented", o.followsAsDocumented)
		t.Run("every rollout strategy is OCM's, and moves", o.everyStrategy)
		t.Run("without overlap a move is as OCM makes it", o.movesAsOCMDoes)
		t.Run("a plain reader sees no page in between", o.plainReader)
	})
}

func (o *orchestra) followsAsDocumented(t *testing.T) {
	t.Parallel()
	objects, web := documented(t, "orchestrators.md"), "web"
	p, set := new(clusterv1beta1.Placement), new(workv1alpha1.ManifestWorkReplicaSet)
	must(t, yaml.UnmarshalStrict(objects["Placement"], p))
	must(t, yaml.UnmarshalStrict(objects["ManifestWorkReplicaSet"], set))
	o.scorer(t, web)
	o.measure(t, web, 90, 10, 20)
	o.put(t, p, set, "spoke-1")
	o.becomesReady(t, "spoke-1", web)
	o.rolledOut(t, web)

	o.measure(t, web, 10, 20, 90)
	o.hasNotArrived(t, "spoke-3", web, "spoke-1", "spoke-3")
	o.becomesReady(t, "spoke-3", web)
	o.sees(t, removed, "spoke-1", web)
	o.inOrder(t, web, [2]string{appeared, "spoke-3"}, [2]string{ready, "spoke-3"}, [2]string{removed, "spoke-1"})
	o.rolledOut(t, web)
	t.Log(o.log.of(web))
}

// put creates a Placement, waits until it selects these clusters, and creates
// a ManifestWorkReplicaSet on it. Until then no move overlaps: one score may be
// there before another is.
func (o *orchestra) put(t *testing.T, p *clusterv1beta1.Placement, set *workv1alpha1.ManifestWorkReplicaSet, want ...string) {
	t.Helper()
	first := p.DeepCopy()
	delete(first.Annotations, placement.AnnotationOverlap)
	placements := o.hub.ocm.ClusterV1beta1().Placements(p.Namespace)
	must(t, created(placements.Create(t.Context(), first, metav1.CreateOptions{})))
	testwait.Within(t, patience, func() string {
		list, err := o.hub.ocm.ClusterV1beta1().PlacementDecisions(p.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + p.Name})
		if err != nil {
			return err.Error()
		}
		if got := difftest.Read(p, list.Items).Clusters; !slices.Equal(got, want) {
			return fmt.Sprintf("Placement %s selects %v, want %v", p.Name, got, want)
		}
		return ""
	})
	must(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := placements.Get(t.Context(), p.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Annotations = p.Annotations
		return created(placements.Update(t.Context(), now, metav1.UpdateOptions{}))
	}))
	must(t, created(o.works.WorkV1alpha1().ManifestWorkReplicaSets(set.Namespace).Create(t.Context(), set, metav1.CreateOptions{})))
}

// putTwo creates the documented pair, of that name, on the best two clusters, with
// spoke-2 and spoke-3 in the first decision group.
func (o *orchestra) putTwo(t *testing.T, name, overlap string, strategy clusterv1alpha1.RolloutStrategy) {
	t.Helper()
	objects := documented(t, "orchestrators.md")
	p, set := new(clusterv1beta1.Placement), new(workv1alpha1.ManifestWorkReplicaSet)
	must(t, yaml.Unmarshal(renamed(objects["Placement"], name), p))
	must(t, yaml.Unmarshal(renamed(objects["ManifestWorkReplicaSet"], name), set))
	delete(p.Annotations, placement.AnnotationOverlap)
	if overlap != "" {
		p.Annotations[placement.AnnotationOverlap] = overlap
	}
	count := int32(2)
	p.Spec.NumberOfClusters = &count
	p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = []clusterv1beta1.DecisionGroup{{
		GroupName:       "canary",
		ClusterSelector: clusterv1beta1.GroupClusterSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}}},
	}}
	set.Spec.PlacementRefs[0].RolloutStrategy = strategy
	o.put(t, p, set, "spoke-1", "spoke-2")
}

// rollout is one strategy, and what it makes of a Deployment on the first two
// clusters.
type rollout struct {
	clusterv1alpha1.RolloutStrategy
	waves [][]string // who comes together, one wave after the other
	// soaks is for how long a wave must have been ready before the next one.
	soaks time.Duration
	// fails has the first wave not become ready in time: the next one comes all
	// the same. stops has it come only after the first has become ready, late.
	fails, stops bool
}

const (
	soak     = 2 * time.Second
	deadline = 2 * time.Second
)

func rollouts() map[string]rollout {
	one := intstr.FromInt32(1)
	canary := clusterv1alpha1.MandatoryDecisionGroups{MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}}
	progressive := func(p clusterv1alpha1.RolloutProgressive) clusterv1alpha1.RolloutStrategy {
		p.MaxConcurrency = one
		return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &p}
	}
	grouped := func(config clusterv1alpha1.RolloutConfig) clusterv1alpha1.RolloutStrategy {
		return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
	}
	soaking := clusterv1alpha1.RolloutConfig{MinSuccessTime: metav1.Duration{Duration: soak}}
	strict := clusterv1alpha1.RolloutConfig{ProgressDeadline: deadline.String()}
	lenient := clusterv1alpha1.RolloutConfig{ProgressDeadline: deadline.String(), MaxFailures: one}
	byName, canaryFirst := [][]string{{"spoke-1"}, {"spoke-2"}}, [][]string{{"spoke-2"}, {"spoke-1"}}
	return map[string]rollout{
		"all":          {RolloutStrategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}, waves: [][]string{{"spoke-1", "spoke-2"}}},
		"progressive":  {RolloutStrategy: progressive(clusterv1alpha1.RolloutProgressive{}), waves: byName},
		"soaking":      {RolloutStrategy: progressive(clusterv1alpha1.RolloutProgressive{RolloutConfig: soaking}), waves: byName, soaks: soak},
		"lenient":      {RolloutStrategy: progressive(clusterv1alpha1.RolloutProgressive{RolloutConfig: lenient}), waves: byName, fails: true},
		"strict":       {RolloutStrategy: progressive(clusterv1alpha1.RolloutProgressive{RolloutConfig: strict}), waves: byName, stops: true},
		"mandatory":    {RolloutStrategy: progressive(clusterv1alpha1.RolloutProgressive{MandatoryDecisionGroups: canary}), waves: canaryFirst},
		"grouped":      {RolloutStrategy: grouped(clusterv1alpha1.RolloutConfig{}), waves: canaryFirst},
		"groupsoaking": {RolloutStrategy: grouped(soaking), waves: canaryFirst, soaks: soak},
		"grouplenient": {RolloutStrategy: grouped(lenient), waves: canaryFirst, fails: true},
		"groupstrict":  {RolloutStrategy: grouped(strict), waves: canaryFirst, stops: true},
	}
}

func (o *orchestra) everyStrategy(t *testing.T) {
	t.Parallel()
	o.label(t, "spoke-2", "ring", "canary")
	o.label(t, "spoke-3", "ring", "canary")
	for name, r := range rollouts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.scorer(t, name)
			o.measure(t, name, 90, 80, 10)
			o.putTwo(t, name, "5m", r.RolloutStrategy)
			o.rollsOut(t, name, r)

			o.measure(t, name, 90, 10, 80) // out of the group canary, into it
			o.hasNotArrived(t, "spoke-3", name, "spoke-1", "spoke-2", "spoke-3")
			o.becomesReady(t, "spoke-3", name)
			o.sees(t, removed, "spoke-2", name)
			o.inOrder(t, name, [2]string{appeared, "spoke-3"}, [2]string{ready, "spoke-3"}, [2]string{removed, "spoke-2"})
			if !o.log.first(removed, "spoke-1", name).IsZero() {
				t.Errorf("spoke-1 lost what it keeps: %s", o.log.of(name))
			}
			o.rolledOut(t, name)
			t.Log(o.log.of(name))
		})
	}
}

// rollsOut has the clusters become ready wave by wave, and fails unless they
// come so.
func (o *orchestra) rollsOut(t *testing.T, name string, r rollout) {
	t.Helper()
	if r.fails {
		o.rollsOnAfter(t, name, r.waves[0][0], r.waves[1][0])
	}
	var there []string
	for i, wave := range r.waves {
		for _, cluster := range wave {
			o.sees(t, appeared, cluster, name)
		}
		there = append(there, wave...)
		slices.Sort(there)
		if got := o.worksOf(t, name); !slices.Equal(got, there) && !r.fails {
			t.Errorf("works are on %v, want %v: %s", got, there, o.log.of(name))
		}
		if i == 0 && r.stops {
			o.isTooLate(t, name, wave[0])
		}
		for _, cluster := range wave {
			o.becomesReady(t, cluster, name)
		}
	}
	o.rolledOut(t, name)
	if r.soaks > 0 || r.stops {
		first, second := r.waves[0][0], r.waves[1][0]
		since, came := o.progressing(t, first, name), o.workOn(t, second, name).CreationTimestamp
		if since.Status != metav1.ConditionFalse || came.Sub(since.LastTransitionTime.Time) < r.soaks {
			t.Errorf("%s got its work at %s, want that %s after %s was ready: %+v", second, came, r.soaks, first, since)
		}
	}
}

// rollsOnAfter waits until the second cluster comes though the first one is
// not ready, and fails unless that had its time.
func (o *orchestra) rollsOnAfter(t *testing.T, name, first, second string) {
	t.Helper()
	o.sees(t, appeared, second, name)
	since, came := o.progressing(t, first, name), o.workOn(t, second, name).CreationTimestamp
	if since.Status != metav1.ConditionTrue || came.Sub(since.LastTransitionTime.Time) < deadline {
		t.Errorf("%s got its work at %s, want that %s after %s has not become ready: %+v", second, came, deadline, first, since)
	}
}

// isTooLate waits until the progress deadline of a cluster is well over.
func (o *orchestra) isTooLate(t *testing.T, name, cluster string) {
	t.Helper()
	testwait.Within(t, patience, func() string {
		since := o.progressing(t, cluster, name)
		if since.Status != metav1.ConditionTrue || time.Since(since.LastTransitionTime.Time) < 2*deadline {
			return fmt.Sprintf("%s is %+v", cluster, since)
		}
		return ""
	})
}

// movesAsOCMDoes only reports in which order things happen: nobody promises
// any.
func (o *orchestra) movesAsOCMDoes(t *testing.T) {
	t.Parallel()
	const name = "plain"
	o.scorer(t, name)
	o.measure(t, name, 90, 80, 10)
	o.putTwo(t, name, "", clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All})
	o.becomesReady(t, "spoke-1", name)
	o.becomesReady(t, "spoke-2", name)
	o.rolledOut(t, name)
	start := time.Now()
	o.measure(t, name, 90, 10, 80)
	gone, there := o.sees(t, removed, "spoke-2", name), o.sees(t, appeared, "spoke-3", name)
	t.Logf("removed %s after the metric, created %s after it", gone.Sub(start), there.Sub(start))
}

// label sets a label of a cluster.
func (o *orchestra) label(t *testing.T, cluster, key, value string) {
	t.Helper()
	clusters := o.hub.ocm.ClusterV1().ManagedClusters()
	must(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		c, err := clusters.Get(t.Context(), cluster, metav1.GetOptions{})
		if err != nil {
			return err
		}
		c.Labels[key] = value
		_, err = clusters.Update(t.Context(), c, metav1.UpdateOptions{})
		return err
	}))
}

// renamed is an object of which everything that is called web is called name.
func renamed(object []byte, name string) []byte {
	return regexp.MustCompile(`\bweb\b`).ReplaceAll(object, []byte(name))
}
