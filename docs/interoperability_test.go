package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/yaml"
)

// TestInteroperabilityExamples: the consumer that interoperability.md shows
// is the one that test/e2e runs, and SIG-Multicluster's types can be read.
func TestInteroperabilityExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("interoperability.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("../test/e2e/consumer/consumer.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindSubmatch(page)
	if shown == nil || !strings.Contains(string(program), string(shown[1])) {
		t.Error("the consumer on the page is not that of test/e2e/consumer")
	}
	provider := regexp.MustCompile("(?ms)^```yaml\n(status:.*?)^```$").FindSubmatch(page)
	if provider == nil {
		t.Fatal("the example of an access provider has moved")
	}
	var p sig.ClusterProfile
	text := strings.ReplaceAll(string(provider[1]), "certificate-authority-data: ...", "certificate-authority-data: YQ==")
	if err := yaml.UnmarshalStrict([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	if a := p.Status.AccessProviders; len(a) != 1 || len(a[0].Cluster.Extensions) != 1 || len(a[0].Cluster.Extensions[0].Extension.Raw) == 0 {
		t.Errorf("the access providers are %+v", a)
	}
}
