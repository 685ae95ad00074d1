package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestMain(m *testing.M) {
	testscript.Main(patient{m}, map[string]func(){
		"spokewire": func() { os.Exit(process.Main(New())) },
	})
}

// patient runs more scripts at once than there are processors, unless
// -parallel says how many: most of what they do is to wait.
type patient struct{ *testing.M }

func (p patient) Run() int {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("8"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return p.M.Run()
}

// prompt has a program that was built with the race detector end at once: by
// default, each sleeps for a second first, so that other threads may still
// find a race, which is most of what a script of many commands takes.
func prompt(e *testscript.Env) {
	e.Setenv("GORACE", strings.TrimSpace("atexit_sleep_ms=0 "+os.Getenv("GORACE")))
}

// TestScripts runs each script with a NATS server of its own.
func TestScripts(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runScript(t, script)
		})
	}
}

func runScript(t *testing.T, script string) {
	s := newScripted(t)
	testscript.Run(t, testscript.Params{
		Files:               []string{script},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			prompt(e)
			e.Setenv("NATS_URL", s.url)
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fleet":   s.fleet,
			"store":   s.store,
			"bridge":  s.bridge,
			"decider": s.decider,
			"spoil":   s.spoil,
			"shows":   shows,
			"running": running,
		},
	})
}

// running locks a data directory as the stack that uses it does.
func running(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Open(ts.MkAbs(filepath.Join(args[0], "lock")))
	ts.Check(err)
	ts.Check(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
	ts.Defer(func() { _ = f.Close() })
}

// scripted is what scripts can do beside running commands.
type scripted struct {
	t   *testing.T
	url string
	bus *jetstream.Bus
}

// newScripted starts a server with every stream.
func newScripted(t *testing.T) *scripted {
	t.Helper()
	s := &scripted{t: t}
	s.use(eventstest.RunServer(t).URL(), events.Streams())
	return s
}

// use connects to a server, and creates streams there.
func (s *scripted) use(url string, streams []events.Stream) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	b, err := jetstream.Connect(ctx, jetstream.Options{URL: url, Name: "test"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(b.Close)
	if err := b.EnsureStreams(ctx, streams); err != nil {
		s.t.Fatal(err)
	}
	s.url, s.bus = url, b
}

// fleet publishes testdata/fleet.jsonl.
func (s *scripted) fleet(*testscript.TestScript, bool, []string) {
	sow(s.t, s.bus, filepath.Join("testdata", "fleet.jsonl"), func(seed) {})
}

// store publishes the events of the given files of seeds.
func (s *scripted) store(ts *testscript.TestScript, _ bool, files []string) {
	for _, file := range files {
		sow(s.t, s.bus, ts.MkAbs(file), func(seed) {})
	}
}

// spoil publishes an event that no reader can take on each given subject.
func (s *scripted) spoil(ts *testscript.TestScript, _ bool, subjects []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, subject := range subjects {
		e := event.New()
		e.SetID(events.NewID())
		e.SetType(spoiledType(subject))
		e.SetSource(sourceOf(s.t, subject))
		ts.Check(e.SetData("application/json", []byte("{not JSON")))
		_, err := s.bus.Publish(ctx, subject, e)
		ts.Check(err)
	}
}

func spoiledType(subject string) string {
	switch {
	case strings.HasPrefix(subject, "sw.config.scorer."):
		return schemas.TypeConfigScorer
	case strings.HasPrefix(subject, "sw.config.cordon."):
		return schemas.TypeConfigCordon
	}
	return schemas.TypeMetricsObserved
}

// bridge answers, with the given outcome, each request for a Placement from
// now on, and follows each answer with another one that is about a decision.
func (s *scripted) bridge(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	synced := make(chan struct{})
	go func() {
		old := true
		done <- s.bus.Watch(ctx, events.Watch{Stream: events.StreamConfig}, func(u events.Update) error {
			switch {
			case u.Kind == events.Synced && old:
				old = false
				close(synced)
			case u.Kind == events.Stored && !old:
				return s.answer(ctx, u.Message, args[0])
			}
			return nil
		})
	}()
	ts.Defer(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			s.t.Errorf("bridge: %v", err)
		}
	})
	select {
	case <-synced:
	case <-time.After(20 * time.Second):
		ts.Fatalf("the bridge does not come up")
	}
}

func (s *scripted) answer(ctx context.Context, m events.Message, outcome string) error {
	r, err := events.Read(m)
	if err != nil || r.Subject.Kind != events.KindPlacement {
		return err
	}
	answer := schemas.Receipt{Subject: m.Subject, Sequence: m.Sequence, ID: r.Event.ID(), Outcome: outcome}
	if outcome == schemas.OutcomeRefused {
		answer.Reason, answer.Message = "Invalid", "spec.numberOfClusters: must be positive"
	}
	decision := schemas.Receipt{
		Subject: events.DecisionSubject(r.Subject.Kind, r.Subject.Namespace, r.Subject.Name), Sequence: 1,
		ID: "decision", Outcome: schemas.OutcomeApplied,
	}
	for _, receipt := range []schemas.Receipt{answer, decision} {
		e, err := events.New(schemas.TypeReceiptRecorded, events.ServiceSource("test"), &receipt)
		if err != nil {
			return err
		}
		if _, err := s.bus.Publish(ctx, events.ReceiptSubject(r.Subject.Kind, r.Subject.Namespace, r.Subject.Name), e); err != nil {
			return err
		}
	}
	return nil
}
