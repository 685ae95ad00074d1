package docs_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/flap"
	"github.com/spokewire/spokewire/internal/manifest"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestPlacementExamples: what placement.md shows can be applied, and the
// policy that it recommends is the one that is measured.
func TestPlacementExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("placement.md")
	if err != nil {
		t.Fatal(err)
	}
	var policy *schemas.PlacementPolicy
	placements := 0
	for _, block := range regexp.MustCompile("(?ms)^```yaml\n(apiVersion.*?)^```$").FindAllSubmatch(text, -1) {
		objects, err := manifest.Parse(block[1])
		if err != nil {
			t.Fatalf("%v in\n%s", err, block[1])
		}
		switch p := objects[0].Payload.(type) {
		case *schemas.PlacementPolicy:
			policy = p
		case *schemas.PlacementRequest:
			placements++
			if _, err := placement.Parse(schemas.Placement{Name: p.Metadata.Name, Namespace: p.Metadata.Namespace, UID: "u", Annotations: p.Metadata.Annotations, Spec: p.Spec}); err != nil {
				t.Error(err)
			}
		}
	}
	if policy == nil || placements == 0 {
		t.Fatalf("%d Placements, policy %v: the examples have moved", placements, policy)
	}
	if err := placement.CheckPolicy(&policy.Spec); err != nil {
		t.Error(err)
	}
	s := policy.Spec
	documented := map[string]string{
		placement.AnnotationDeadBand: fmt.Sprint(*s.DeadBand), placement.AnnotationDecisiveLead: fmt.Sprint(*s.DecisiveLead),
		placement.AnnotationWindow: short(*s.StabilisationWindow), placement.AnnotationBudget: fmt.Sprintf("%d/%s", s.ChangeBudget.Moves, short(s.ChangeBudget.Interval)),
	}
	if !reflect.DeepEqual(documented, flap.Recommended()) {
		t.Errorf("documented %v, measured %v", documented, flap.Recommended())
	}
}

// short writes whole minutes as people do.
func short(d schemas.Duration) string { return fmt.Sprintf("%dm", int(time.Duration(d).Minutes())) }
