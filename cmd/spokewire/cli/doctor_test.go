package cli

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// staged is a server on which something is not as it should be.
type staged struct {
	options func(*server.Options)
	// streams returns those to create; nil means as declared.
	streams func() []events.Stream
	// deny is what the user of the script may not publish.
	deny []string
	// years is by how many the server's clock is ahead, for that user.
	years int
}

// stagedPassword is that of every user. A letter alone would be taken out of
// all that is printed.
const stagedPassword = "staged-password"

func stages() map[string]staged {
	return map[string]staged{
		"sound":   {},
		"bare":    {options: func(o *server.Options) { o.JetStream = false }, streams: func() []events.Stream { return nil }},
		"small":   {options: func(o *server.Options) { o.MaxPayload = 64 << 10 }},
		"denied":  {deny: []string{"$JS.API.STREAM.INFO.>"}},
		"unread":  {deny: []string{"$JS.API.CONSUMER.CREATE.>"}},
		"missing": {streams: func() []events.Stream { all := events.Streams(); return all[:len(all)-1] }},
		"empty":   {streams: func() []events.Stream { return nil }},
		"fixed":   {streams: func() []events.Stream { return nil }, deny: []string{"$JS.API.STREAM.CREATE.>"}},
		"early":   {years: -1},
		"late":    {years: 1},
		"hourly": {streams: func() []events.Stream {
			all := events.Streams()
			all[2].MaxAge = time.Hour
			return all
		}},
	}
}

// TestDoctorScripts runs doctor on servers that are staged by the command
// server.
func TestDoctorScripts(t *testing.T) {
	t.Parallel()
	runStaged(t, "doctor")
}

// TestStreamsScripts does so with the commands on streams.
func TestStreamsScripts(t *testing.T) {
	t.Parallel()
	runStaged(t, "streams")
}

func runStaged(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", dir),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			prompt(e)
			e.Values["scripted"] = &scripted{t: t}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": stage,
			"fleet":  func(ts *testscript.TestScript, neg bool, args []string) { scriptedOf(ts).fleet(ts, neg, args) },
			"store":  func(ts *testscript.TestScript, neg bool, args []string) { scriptedOf(ts).store(ts, neg, args) },
			"reader": reader,
		},
	})
}

// TestNewestHistory: where there are more events than are read, the newest are,
// and it is said how far back they reach.
func TestNewestHistory(t *testing.T) {
	t.Parallel()
	const stored = 100 // one a second
	tests := map[string]struct {
		most     int
		wantSpan time.Duration
		wantCut  bool
	}{
		"all of them":         {1000, 2 * time.Minute, false},
		"more than are read":  {20, 16 * time.Second, true},
		"too many in no time": {2, time.Second, true},
		"just too many":       {stored + 1, time.Minute + 4*time.Second, true},
	}
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	now := noon.Add(-stored * time.Second)
	b := eventstest.NewBus()
	b.SetNow(func() time.Time { return now })
	for i := range stored {
		now = now.Add(time.Second)
		source := strconv.Itoa(i % 10) // a stream keeps 64 events of each
		e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource("c", source), &schemas.Metrics{Samples: []schemas.Sample{}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Publish(t.Context(), events.MetricSubject("c", source), e); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := newest(t.Context(), b, events.StreamMetrics, noon, firstLook, 2*time.Minute, tt.most)
			if err != nil {
				t.Fatal(err)
			}
			if got.Span != tt.wantSpan || got.Cut != tt.wantCut || len(got.Events) == 0 {
				t.Fatalf("%d events of the last %s, cut %v; want the last %s, cut %v", len(got.Events), got.Span, got.Cut, tt.wantSpan, tt.wantCut)
			}
			if last := got.Events[len(got.Events)-1].Message.ReceivedAt; !last.Equal(noon) {
				t.Errorf("the newest is of %s, want %s", last, noon)
			}
		})
	}
}

func scriptedOf(ts *testscript.TestScript) *scripted { return ts.Value("scripted").(*scripted) }

// stage starts the server of the given name for what follows in the script.
func stage(ts *testscript.TestScript, _ bool, args []string) {
	s, stage := scriptedOf(ts), stages()[args[0]]
	running := eventstest.RunServer(s.t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "all", Password: stagedPassword},
			{Username: "user", Password: stagedPassword, Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{">"}, Deny: stage.deny}}},
		}
		if stage.options != nil {
			stage.options(o)
		}
	})
	streams := events.Streams()
	if stage.streams != nil {
		streams = stage.streams()
	}
	s.use(strings.Replace(running.URL(), "//", "//all:"+stagedPassword+"@", 1), streams)
	url := running.URL()
	if stage.years != 0 {
		url = ageing(s.t, strings.TrimPrefix(url, "nats://"), stage.years)
	}
	ts.Setenv("NATS_URL", strings.Replace(url, "//", "//user:"+stagedPassword+"@", 1))
}
