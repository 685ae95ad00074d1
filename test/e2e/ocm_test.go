package e2e

import (
	"os"
	"path/filepath"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestBesideOCM runs Spokewire on one hub with OCM's own placement
// controller.
func TestBesideOCM(t *testing.T) {
	t.Parallel()
	program := filepath.Join(hubtest.BinDir(), "placement")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%v: run 'make tools' in the repository", err)
	}
	s := startStack(t, func(o *stack.Options) { o.Spokes, o.OCM = 0, true })
	b := beside{hub: hubOf(t, s), bus: operator(t, s)}
	b.prepare(t, s)
	t.Run("each moves its own by our scores", b.eachMovesItsOwn)
	t.Run("each leaves the other's alone", b.eachLeavesTheOthersAlone)
	t.Run("an annotation hands over", b.anAnnotationHandsOver)
	t.Run("both select the same clusters of generated fleets", func(t *testing.T) { bothSelectTheSame(t, b.hub, b.bus) })
}

func (b beside) eachMovesItsOwn(t *testing.T) {
	b.place(t, "native", false)
	b.place(t, "direct", true)
	for _, c := range []struct {
		left, right float64
		want        string
	}{{90, 10, "left"}, {20, 80, "right"}, {60, 40, "left"}} {
		b.measure(t, c.left, c.right)
		b.decided(t, "native", "ocm", c.want)
		b.decided(t, "direct", "spokewire", c.want)
	}
	b.writtenBy(t, "native", managerOCM)
	b.writtenBy(t, "direct", managerOur)
}

// eachLeavesTheOthersAlone changes both Placements, and gives either side a
// later one to decide, so that it has certainly looked at the changes.
func (b beside) eachLeavesTheOthersAlone(t *testing.T) {
	native, direct := b.identities(t, "native"), b.identities(t, "direct")
	steps := []struct {
		what   string
		change func(*clusterv1beta1.Placement)
		want   []string
		direct []string // of the direct one: a slip in the spec leaves it where it is
	}{
		{"label", func(p *clusterv1beta1.Placement) { p.Labels = map[string]string{"team": "a"} }, []string{"left"}, []string{"left"}},
		{"all", func(p *clusterv1beta1.Placement) { p.Spec.NumberOfClusters = nil }, []string{"left", "right"}, []string{"left", "right"}},
		{"none", func(p *clusterv1beta1.Placement) { p.Spec.ClusterSets = []string{"nowhere"} }, nil, []string{"left", "right"}},
		{"one", func(p *clusterv1beta1.Placement) { p.Spec = bestBy(pull) }, []string{"left"}, []string{"left"}},
	}
	for _, step := range steps {
		b.change(t, "native", step.change)
		b.change(t, "direct", step.change)
		b.decided(t, "native", "ocm", step.want...)
		b.decided(t, "direct", "spokewire", step.direct...)
		b.place(t, "after-"+step.what+"-native", false)
		b.place(t, "after-"+step.what+"-direct", true)
		b.decided(t, "after-"+step.what+"-native", "ocm", "left")
		b.decided(t, "after-"+step.what+"-direct", "spokewire", "left")
		b.writtenBy(t, "native", managerOCM)
		b.writtenBy(t, "direct", managerOur)
	}
	b.keptTheirObjects(t, "native", native)
	b.keptTheirObjects(t, "direct", direct)
	b.onlyEver(t, "native", schemas.ModeNative)
	b.onlyEver(t, "direct", schemas.ModeDirect)
}

func (b beside) anAnnotationHandsOver(t *testing.T) {
	b.place(t, "handed", true)
	b.decided(t, "handed", "spokewire", "left")
	b.explained(t, "handed", true)
	objects := b.identities(t, "handed")

	b.change(t, "handed", func(p *clusterv1beta1.Placement) { p.Annotations = nil })
	b.decided(t, "handed", "ocm", "left")
	b.explained(t, "handed", false)
	b.keptTheirObjects(t, "handed", objects)
	b.measure(t, 10, 70)
	b.decided(t, "handed", "ocm", "right")
	b.explained(t, "handed", false)
	b.keptTheirObjects(t, "handed", objects)

	b.change(t, "handed", func(p *clusterv1beta1.Placement) {
		p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	})
	b.decided(t, "handed", "spokewire", "right")
	b.explained(t, "handed", true)
	b.measure(t, 80, 70)
	b.decided(t, "handed", "spokewire", "left")
	b.keptTheirObjects(t, "handed", objects)
}
