package docs_test

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestStreamsAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	d, _ := load(t)
	want := map[string]stream{}
	for _, s := range events.Streams() {
		discard := "old"
		if s.RefuseWhenFull {
			discard = "new"
		}
		want[s.Name] = stream{
			Subjects: s.Subjects, MaxMsgsPerSubject: s.PerSubject, MaxAge: s.MaxAge.String(),
			MaxBytes: s.MaxBytes, Discard: discard, Ingest: s.Ingest,
		}
	}
	for _, m := range access.Mirrors() {
		s := want[m.Stream.Name]
		s.MirroredIn = []string{access.AccountRead}
		want[m.Stream.Name] = s
	}
	for name := range maps.Keys(want) {
		if !reflect.DeepEqual(d.Streams[name], want[name]) {
			t.Errorf("x-streams: %s is %+v, in the code %+v", name, d.Streams[name], want[name])
		}
	}
	for name := range d.Streams {
		if _, ok := want[name]; !ok {
			t.Errorf("x-streams: %s is not in events.Streams", name)
		}
	}
	if d.DedupeWindow != events.DedupeWindow.String() {
		t.Errorf("x-dedupe-window is %s, in the code %v", d.DedupeWindow, events.DedupeWindow)
	}
}

// Every stream has channels, and every channel's subjects are those of its
// stream and are understood by the code.
func TestChannelsAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	d, _ := load(t)
	streams, families := map[string]bool{}, map[string]bool{}
	for name, c := range d.Channels {
		if asks(c) {
			continue
		}
		subject := subjectOf(c, sampleValues(c))
		parsed, err := events.ParseSubject(subject)
		if err != nil {
			t.Errorf("channel %s: %v", name, err)
			continue
		}
		streams[c.Stream], families[parsed.Family] = true, true
		if s := d.Streams[c.Stream]; !slices.ContainsFunc(s.Subjects, func(f string) bool { return matches(f, subject) }) {
			t.Errorf("channel %s: %s is no subject of %s", name, c.Address, c.Stream)
		}
	}
	for _, s := range events.Streams() {
		if !streams[s.Name] {
			t.Errorf("no channel is of the stream %s", s.Name)
		}
	}
	for _, family := range []string{
		events.FamilyMetric, events.FamilyBackfill, events.FamilyScore, events.FamilyHub,
		events.FamilyConfig, events.FamilyDecision, events.FamilyReceipt, events.FamilyDead, events.FamilyStatus,
	} {
		if !families[family] {
			t.Errorf("no channel is of the family %s", family)
		}
	}
}

func sampleValues(c channel) map[string]string {
	if c.Stream == events.StreamDead {
		return map[string]string{"position": "SW_METRICS-1"}
	}
	return nil
}

// Every event type is a message of some channel, with its schema.
func TestMessagesAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	d, _ := load(t)
	used, described := map[string]bool{}, map[string]bool{}
	for _, c := range d.Channels {
		for key, r := range c.Messages {
			used[key] = true
			if key != r.last() {
				t.Errorf("message %s refers to %s", key, r.Ref)
			}
		}
	}
	for key, m := range d.Components.Messages {
		described[m.Name] = true
		if !used[key] {
			t.Errorf("message %s is on no channel", key)
		}
		if want := "../pkg/schemas/json/" + m.Name + ".json"; m.Payload.Schema.Ref != want {
			t.Errorf("message %s has the schema %s, want %s", key, m.Payload.Schema.Ref, want)
		}
		if _, err := schemas.JSONSchema(m.Name); err != nil {
			t.Errorf("message %s: %v", key, err)
		}
	}
	for _, eventType := range schemas.Types() {
		if !described[eventType] {
			t.Errorf("no message is of the type %s", eventType)
		}
	}
}

// A channel lists exactly the types that events.Read takes there.
func TestChannelsCarryWhatReadersTake(t *testing.T) {
	t.Parallel()
	d, _ := load(t)
	for name, c := range d.Channels {
		listed := listedOn(d, c)
		if asks(c) {
			continue
		}
		for _, eventType := range schemas.Types() {
			if taken := takes(subjectOf(c, sampleValues(c)), eventType); taken != listed[eventType] {
				t.Errorf("channel %s: %s is listed: %v, but readers take it: %v", name, eventType, listed[eventType], taken)
			}
		}
	}
}

// asks reports whether the channel is of requests, which are in no stream.
func asks(c channel) bool { return matches(events.AskSubjects, c.Address) }

// listedOn has the types of a channel's messages.
func listedOn(d document, c channel) map[string]bool {
	listed := map[string]bool{}
	for key := range c.Messages {
		listed[d.Components.Messages[key].Name] = true
	}
	return listed
}

// Every subject on which questions are answered is a channel, with the
// question and the answer.
func TestQuestionsAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	d, _ := load(t)
	want := map[string][]string{
		events.AskExplain: {schemas.TypeExplainAsked, schemas.TypeExplainAnswered},
		events.AskWhatIf:  {schemas.TypeWhatIfAsked, schemas.TypeWhatIfAnswered},
		events.AskReplay:  {schemas.TypeReplayAsked, schemas.TypeReplayAnswered},
		events.AskAudit:   {schemas.TypeAuditAsked, schemas.TypeAuditAnswered},
	}
	for name, c := range d.Channels {
		if !asks(c) {
			continue
		}
		listed := listedOn(d, c)
		if types := want[c.Address]; len(types) != 2 || !listed[types[0]] || !listed[types[1]] || len(listed) != 2 || c.Stream != "" {
			t.Errorf("channel %s: %s in stream %q carries %v, want %v in none", name, c.Address, c.Stream, listed, types)
		}
		delete(want, c.Address)
	}
	for subject := range want {
		t.Errorf("%s is no channel", subject)
	}
}

// takes reports whether a reader lets the type pass on the subject, whatever
// it then says of the payload.
func takes(subject, eventType string) bool {
	m := events.Message{Subject: subject, Data: []byte("{}"), Header: events.Header{}}
	m.Header.Set("ce-specversion", "1.0")
	m.Header.Set("ce-id", "1")
	m.Header.Set("ce-source", "/x")
	m.Header.Set("ce-type", eventType)
	_, err := events.Read(m)
	var bad *events.BadInput
	return !errors.As(err, &bad) || bad.Reason != "WrongType"
}

// users has the users of the operations, by x-user, in a layout where every
// parameter is x.
func users() map[string]access.User {
	grants := []access.Grant{{Cluster: "x", Sources: []string{"x"}}}
	layout := access.Layout{
		Services: access.Services(), Spokes: grants,
		Outsiders: []access.Outsider{{Name: "publisher", Metrics: grants}, {Name: "reader", Decisions: true}},
	}
	names := map[string]string{
		access.SpokeUser("x"): "collector", access.OutsiderUser("publisher"): "publisher", access.OutsiderUser("reader"): "reader",
	}
	all := map[string]access.User{}
	for _, u := range layout.Users() {
		name, ok := names[u.Name]
		if !ok {
			name = u.Name
		}
		all[name] = u
	}
	for _, silent := range []string{access.Admin, access.ReadAdmin, access.System} {
		delete(all, silent) // they send and receive no events
	}
	return all
}

// What the document says of who sends and receives is what the server's
// permissions allow.
func TestOperationsAreThoseOfThePermissions(t *testing.T) {
	t.Parallel()
	d, _ := load(t)
	for name, u := range users() {
		sent, received := map[string]bool{}, map[string]bool{}
		for _, o := range d.Operations {
			if o.User != name {
				continue
			}
			switch o.Action {
			case "send":
				sent[o.Channel.last()] = true
			case "receive":
				received[d.Channels[o.Channel.last()].Stream] = true
			}
			if account := d.Components.SecuritySchemes[o.Security[0].last()].Account; account != u.Account {
				t.Errorf("%s is described in account %s, but is in %s", name, account, u.Account)
			}
		}
		for key, c := range d.Channels {
			if allowed := allows(u.Publish, subjectOf(c, map[string]string{"service": u.Name})); allowed != sent[key] {
				t.Errorf("%s sends on %s: %v in the document, %v by permission", name, key, sent[key], allowed)
			}
		}
		for _, s := range events.Streams() {
			if allowed := reads(u, s.Name); allowed != received[s.Name] {
				t.Errorf("%s receives from %s: %v in the document, %v by permission", name, s.Name, received[s.Name], allowed)
			}
		}
	}
	known := users()
	for key, o := range d.Operations {
		if _, ok := known[o.User]; !ok {
			t.Errorf("operation %s is of the unknown user %q", key, o.User)
		}
	}
}

func allows(permissions []string, subject string) bool {
	return slices.ContainsFunc(permissions, func(p string) bool { return matches(p, subject) })
}

func reads(u access.User, stream string) bool {
	create := "CONSUMER.CREATE." + stream + ".x"
	return allows(u.Publish, "$JS.API."+create) || allows(u.Publish, "$JS."+access.ReadDomain+".API."+create)
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a.*.c a.b.c": true, "a.> a.b.c": true, "a.b a.b.c": false, "a.*.c a.b": false, "a.> a": false, "*.b a.b": true,
	} {
		filter, subject, _ := strings.Cut(name, " ")
		if got := matches(filter, subject); got != want {
			t.Errorf("matches(%s, %s) = %v", filter, subject, got)
		}
	}
}
