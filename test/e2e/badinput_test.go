package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	corev1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

// metricHeaders are those of a sound metrics event of a source of spoke-1.
func metricHeaders(source string) nats.Header {
	return nats.Header{
		"ce-specversion": {"1.0"}, "ce-id": {events.NewID()}, "ce-type": {schemas.TypeMetricsObserved},
		"ce-source": {events.ClusterSource("spoke-1", source)}, "Content-Type": {"application/json"},
	}
}

// TestBadInputIsRefusedKeptAndHarmsNobody sends every kind of bad input past
// all of our own checks, as a stock NATS client can, and expects each in
// SW_DEAD with the field that is wrong, while a sound neighbour goes on.
func TestBadInputIsRefusedKeptAndHarmsNobody(t *testing.T) {
	t.Parallel()
	s := startStack(t, func(o *stack.Options) { o.Spokes = 1 })
	bus := operator(t, s)
	hub := hubOf(t, s)
	apply(t, s, loadManifests)
	url, err := s.OperatorURL()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	sound := func(value int) {
		t.Helper()
		publishRaw(t, conn, "sw.metric.spoke-1.load", metricHeaders("load"), fmt.Sprintf(`{"samples":[{"name":"load_free","value":%d}]}`, value))
		testwait.Within(t, 20*time.Second, func() string {
			got, err := loadRule.OnHub(t.Context(), hub.ocm)
			if err != nil {
				return err.Error()
			}
			return fold.Diff(got, fold.State{Scores: map[string]int32{"spoke-1": int32(value / 10)}, Selected: []string{"spoke-1"}})
		})
	}
	sound(100)

	cases := map[string]struct {
		change    func(nats.Header)
		body      string
		wantField string
		wantText  string
	}{
		"not JSON":         {body: `{"samples":`, wantField: "data", wantText: "JSON"},
		"wrong type":       {body: `{"samples":[{"name":"a","value":"high"}]}`, wantField: "samples[0].value", wantText: "string"},
		"NaN":              {body: `{"samples":[{"name":"b","value":1},{"name":"a","value":NaN}]}`, wantField: "samples[1].value", wantText: "samples[1].value is NaN, which JSON has not"},
		"infinite":         {body: `{"samples":[{"name":"a","value":1e999}]}`, wantField: "samples[0].value", wantText: "1e999"},
		"unknown field":    {body: `{"samples":[],"colour":"red"}`, wantField: "colour", wantText: "samples"},
		"too many labels":  {body: `{"samples":[{"name":"a","value":1,"labels":{` + labels(1000) + `}}]}`, wantField: "samples[0].labels", wantText: "1000"},
		"newline in name":  {body: `{"samples":[{"name":"a\nb","value":1}]}`, wantField: "samples[0].name", wantText: `\n`},
		"unknown version":  {change: func(h nats.Header) { h.Set("ce-type", "dev.spokewire.metrics.observed.v9") }, body: `{}`, wantField: "type", wantText: "v9"},
		"another cluster":  {change: func(h nats.Header) { h.Set("ce-source", "/clusters/spoke-2/sources/bad") }, body: `{"samples":[]}`, wantField: "source", wantText: "spoke-2"},
		"no envelope":      {change: func(h nats.Header) { h.Del("ce-specversion") }, body: `{"samples":[]}`, wantField: "specversion", wantText: "1.0"},
		"malformed age":    {change: func(h nats.Header) { h.Set("ce-age", "yesterday") }, body: `{"samples":[]}`, wantField: "age", wantText: "yesterday"},
		"empty, a status":  {change: func(h nats.Header) { h.Set("Status", "409") }, body: ``, wantField: "data", wantText: "JSON"},
		"another's family": {change: func(h nats.Header) { h.Set("ce-type", schemas.TypeScoreComputed) }, body: `{}`, wantField: "type", wantText: "metrics"},
	}
	for name, c := range cases {
		source := "bad-" + strings.Map(onlyLetters, name)
		h := metricHeaders(source)
		h.Set("ce-source", events.ClusterSource("spoke-1", source))
		if c.change != nil {
			c.change(h)
		}
		publishRaw(t, conn, events.MetricSubject("spoke-1", source), h, c.body)
		letter := deadLetter(t, bus, "scorer", events.MetricSubject("spoke-1", source))
		if letter.Field != c.wantField || !strings.Contains(letter.Message, c.wantText) {
			t.Errorf("%s: refused field %q: %s\nwant field %q and %q in the message", name, letter.Field, letter.Message, c.wantField, c.wantText)
		}
		if string(letter.Body) != c.body[:min(len(c.body), schemas.MaxDeadBody)] || letter.Size != len(c.body) {
			t.Errorf("%s: %d bytes of the body are kept, size %d, want those sent: %d", name, len(letter.Body), letter.Size, len(c.body))
		}
	}

	million := `{"samples":[{"name":"a","value":1,"labels":{` + labels(1_000_000) + `}}]}`
	if err := conn.PublishMsg(&nats.Msg{Subject: "sw.metric.spoke-1.huge", Data: []byte(million)}); err == nil {
		t.Error("an event with a million labels was taken by the server")
	}
	sound(200)
}

func TestBadConfigurationIsRefusedByNameAndHarmsNobody(t *testing.T) {
	t.Parallel()
	s := startStack(t, func(o *stack.Options) { o.Spokes = 1 })
	hub := hubOf(t, s)
	apply(t, s, loadManifests)

	refused := map[string]struct{ manifest, want string }{
		"does not compile": {"apiVersion: spokewire.dev/v1alpha1\nkind: Scorer\nmetadata: {name: bad}\nspec: {cel: 'linear(metric('}", "spec.cel"},
		"no such function": {"apiVersion: spokewire.dev/v1alpha1\nkind: Scorer\nmetadata: {name: bad}\nspec: {cel: 'guess()'}", "spec.cel"},
		"unknown field":    {"apiVersion: spokewire.dev/v1alpha1\nkind: Scorer\nmetadata: {name: bad}\nspec: {cell: '1'}", "cell"},
		"bad placement":    {"apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: bad, namespace: default}\nspec: {prioritizerPolicy: {configurations: [{weight: 99}]}}", "weight"},
	}
	for name, c := range refused {
		file := t.TempDir() + "/bad.yaml"
		if err := os.WriteFile(file, []byte(c.manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := spokewire(t, s, "apply", "-f", file); err == nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: apply says %q (%v), want a refusal that names %q", name, out, err, c.want)
		}
	}

	apply(t, s, "apiVersion: spokewire.dev/v1alpha1\nkind: Scorer\nmetadata: {name: zero}\nspec: {cel: '1.0 / (metric(\"load_free\") - metric(\"load_free\"))'}")
	if out, err := spokewire(t, s, "publish", "--cluster", "spoke-1", "--source", "load", "load_free=300"); err != nil {
		t.Fatalf("publish: %v\n%s", err, out)
	}
	testwait.Within(t, 20*time.Second, func() string {
		out, err := spokewire(t, s, "get", "scores", "-o", "json")
		if err != nil || !strings.Contains(out, schemas.ScoreNotFinite) {
			return fmt.Sprintf("a division by zero has no score with reason NotFinite: %v %s", err, out)
		}
		return ""
	})

	apply(t, s, strings.NewReplacer("name: load\n", "name: lost\n", "numberOfClusters: 2", "clusterSets: [nowhere]").Replace(loadManifests[strings.Index(loadManifests, "---"):]))
	testwait.Within(t, 20*time.Second, func() string {
		p, err := hub.ocm.ClusterV1beta1().Placements("default").Get(t.Context(), "lost", corev1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		for _, c := range p.Status.Conditions {
			if c.Type == "PlacementSatisfied" && c.Status == corev1.ConditionFalse && c.Message != "" {
				return ""
			}
		}
		return fmt.Sprintf("a Placement of an unknown set has conditions %v", p.Status.Conditions)
	})
	testwait.Within(t, 20*time.Second, func() string {
		got, err := loadRule.OnHub(t.Context(), hub.ocm)
		if err != nil {
			return err.Error()
		}
		return fold.Diff(got, fold.State{Scores: map[string]int32{"spoke-1": 30}, Selected: []string{"spoke-1"}})
	})
}

// TestABadScrapeTargetHarmsNoOtherSource runs a collector process with a
// target that hangs, one that never ends and one that is sound.
func TestABadScrapeTargetHarmsNoOtherSource(t *testing.T) {
	t.Parallel()
	s := startStack(t, func(o *stack.Options) { o.Spokes = 0 })
	release := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/hangs", func(http.ResponseWriter, *http.Request) { <-release })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprintf(w, "noise{n=%q} 1\n", strings.Repeat("x", 1000)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/sound", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "answer 42") })
	target := httptest.NewServer(mux)
	defer target.Close()
	defer close(release)

	dir := t.TempDir()
	config := fmt.Sprintf(`cluster: spoke-9
outbox: {dir: %s}
sources:
  - {name: hangs, url: %[2]s/hangs, interval: 100ms, timeout: 90ms}
  - {name: endless, url: %[2]s/endless, interval: 200ms, timeout: 150ms}
  - {name: sound, url: %[2]s/sound, interval: 100ms}
`, dir, target.URL)
	file := dir + "/collector.yaml"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	url, err := s.OperatorURL()
	if err != nil {
		t.Fatal(err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	collector := exec.CommandContext(t.Context(), executable, "run", "collector", "--config", file)
	collector.Env = append(os.Environ(), "NATS_URL="+url)
	collector.Stdout, collector.Stderr = t.Output(), t.Output()
	if err := collector.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = collector.Process.Kill()
		_ = collector.Wait()
	}()
	bus := operator(t, s)
	testwait.Within(t, 20*time.Second, func() string {
		if _, err := bus.Last(t.Context(), events.StreamMetrics, events.MetricSubject("spoke-9", "sound")); err != nil {
			return "the sound source: " + err.Error()
		}
		return ""
	})
	for _, bad := range []string{"hangs", "endless"} {
		if m, err := bus.Last(t.Context(), events.StreamMetrics, events.MetricSubject("spoke-9", bad)); err == nil {
			t.Errorf("source %s published %s", bad, m.Data)
		}
	}
}

func publishRaw(t *testing.T, conn *nats.Conn, subject string, h nats.Header, body string) {
	t.Helper()
	m := &nats.Msg{Subject: subject, Header: h, Data: []byte(body)}
	reply, err := conn.RequestMsgWithContext(t.Context(), m)
	if err != nil || !strings.Contains(string(reply.Data), `"seq"`) {
		t.Fatalf("publish to %s: %v", subject, err)
	}
}

// deadLetter waits for what service kept of the last message of subject.
func deadLetter(t *testing.T, bus interface {
	events.Getter
	events.Watcher
}, service, subject string) schemas.DeadLetter {
	t.Helper()
	parsed, err := events.ParseSubject(subject)
	if err != nil {
		t.Fatal(err)
	}
	stream := map[string]string{events.FamilyMetric: events.StreamMetrics, events.FamilyConfig: events.StreamConfig}[parsed.Family]
	bad, err := bus.Last(t.Context(), stream, subject)
	if err != nil {
		t.Fatal(err)
	}
	var letter schemas.DeadLetter
	testwait.Within(t, 20*time.Second, func() string {
		m, err := bus.Last(t.Context(), events.StreamDead, events.DeadSubject(service, stream, bad.Sequence))
		if err != nil {
			return fmt.Sprintf("%s kept no dead letter of %s: %v", service, subject, err)
		}
		r, err := events.Read(m)
		if err != nil {
			return err.Error()
		}
		letter = *r.Payload.(*schemas.DeadLetter)
		return ""
	})
	return letter
}

func labels(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"l%d":""`, i)
	}
	return b.String()
}

func onlyLetters(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r
	}
	return -1
}
