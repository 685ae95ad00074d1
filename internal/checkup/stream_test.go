package checkup

import (
	"strings"
	"testing"
	"time"
)

// judged is what a test wants of one finding.
type judged struct {
	wantOK bool
	want   string // part of the detail
}

func (j judged) check(t *testing.T, f Finding) {
	t.Helper()
	if f.OK != j.wantOK || !strings.Contains(f.Detail, j.want) {
		t.Errorf("got %+v, want OK %v with %q", f, j.wantOK, j.want)
	}
}

func TestCheckStream(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		stream Stream
		judged
	}{
		"well":           {Stream{Subjects: 3, Bytes: 5, MaxBytes: 100}, judged{true, "3 subjects"}},
		"missing":        {Stream{Fault: FaultMissing}, judged{false, "is not there: the services wait for it"}},
		"denied":         {Stream{Fault: FaultDenied}, judged{false, "use the operator's credentials"}},
		"unreadable":     {Stream{Fault: FaultUnreadable, Cause: "a reason"}, judged{false, "cannot be read (a reason): may this user"}},
		"other settings": {Stream{Name: "S", Differences: []string{"MaxAge is 1h0m0s, want 24h0m0s"}}, judged{false, "MaxAge is 1h0m0s, want 24h0m0s. Nothing alters it by itself: nats stream edit S"}},
		"nearly full":    {Stream{Name: "S", Bytes: 80 << 20, MaxBytes: 100 << 20}, judged{false, "holds 80.0 MiB of 100.0 MiB: once it is full, the oldest events go"}},
		"nearly full, and refuses then": {
			Stream{Bytes: 90, MaxBytes: 100, RefuseWhenFull: true}, judged{false, "holds 90 bytes of 100 bytes: once it is full, new events are refused"},
		},
		"not nearly full": {Stream{Bytes: 79, MaxBytes: 100}, judged{true, "0 subjects"}},
		"without a bound": {Stream{Bytes: 1 << 40}, judged{true, "0 subjects"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.check(t, tt.stream.check())
		})
	}
}

func TestCheckStreamsSaysOnceThatThereIsNoJetStream(t *testing.T) {
	t.Parallel()
	findings, whole := checkStreams([]Stream{{Fault: FaultNoJetStream, Cause: "no responders"}, {Fault: FaultNoJetStream}})
	if whole || len(findings) != 1 {
		t.Fatalf("got %+v, whole %v, want one finding", findings, whole)
	}
	judged{false, "(no responders): start it with JetStream"}.check(t, findings[0])
}

func TestCheckClock(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		server time.Duration // after asked; answered is 2 s after
		judged
	}{
		"the same":       {time.Second, judged{true, "as the server's"}},
		"a little ahead": {-maxClockOff, judged{true, "as the server's"}},
		"ahead":          {-time.Hour - 3*time.Second, judged{false, "1h0m3s ahead of the NATS server's: set both by NTP"}},
		"behind":         {2*time.Second + time.Minute, judged{false, "1m behind the NATS server's"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.check(t, Clock{Server: asked.Add(tt.server), Asked: asked, Answered: asked.Add(2 * time.Second)}.check())
		})
	}
	judged{false, "told no time, which it does with its streams"}.check(t, Clock{}.check())
}

func TestCheckReaders(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reader Reader
		judged
	}{
		"has read all":   {Reader{Name: "scorer"}, judged{true, "1"}},
		"catches up":     {Reader{Name: "scorer", Before: 9000, Pending: 8999}, judged{true, "1"}},
		"falls behind":   {Reader{Name: "scorer", Before: 9000, Pending: 9500}, judged{false, "scorer (9500 events of SW_METRICS)) fall behind"}},
		"a few events":   {Reader{Name: "scorer", Before: 10, Pending: 20}, judged{true, "1"}},
		"stands still":   {Reader{Name: "scorer", Before: 9000, Pending: 9000}, judged{false, "fall behind"}},
		"is gone by now": {Reader{Name: "scorer", Before: 9000}, judged{true, "1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.check(t, checkReaders([]Stream{{Name: "SW_METRICS", Readers: []Reader{tt.reader}}}))
		})
	}
}

func TestCheckDrawsNoConclusionsFromAPart(t *testing.T) {
	t.Parallel()
	findings := Check(Snapshot{Streams: []Stream{{Name: "A"}, {Name: "B", Fault: FaultDenied}}, Hub: &Hub{Server: "s"}})
	var names []string
	for _, f := range findings {
		names = append(names, f.Check)
	}
	if got, want := strings.Join(names, ", "), "stream A, stream B, clock, hub, hub resources, hub rights, hub writer"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
