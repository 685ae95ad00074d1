package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

// staged is a server on which something is not as it should be.
type staged struct {
	options func(*server.Options)
	// streams returns those to create; nil means as declared.
	streams func() []events.Stream
	// deny is what the user of the script may not publish.
	deny []string
}

func stages() map[string]staged {
	return map[string]staged{
		"sound":   {},
		"bare":    {options: func(o *server.Options) { o.JetStream = false }, streams: func() []events.Stream { return nil }},
		"small":   {options: func(o *server.Options) { o.MaxPayload = 64 << 10 }},
		"denied":  {deny: []string{"$JS.API.STREAM.INFO.>"}},
		"unread":  {deny: []string{"$JS.API.CONSUMER.CREATE.>"}},
		"missing": {streams: func() []events.Stream { all := events.Streams(); return all[:len(all)-1] }},
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
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "doctor"),
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
		},
	})
}

func scriptedOf(ts *testscript.TestScript) *scripted { return ts.Value("scripted").(*scripted) }

// stage starts the server of the given name for what follows in the script.
func stage(ts *testscript.TestScript, _ bool, args []string) {
	s, stage := scriptedOf(ts), stages()[args[0]]
	running := eventstest.RunServer(s.t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "all", Password: "p"},
			{Username: "user", Password: "p", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{">"}, Deny: stage.deny}}},
		}
		if stage.options != nil {
			stage.options(o)
		}
	})
	streams := events.Streams()
	if stage.streams != nil {
		streams = stage.streams()
	}
	s.use(strings.Replace(running.URL(), "//", "//all:p@", 1), streams)
	ts.Setenv("NATS_URL", strings.Replace(running.URL(), "//", "//user:p@", 1))
}
