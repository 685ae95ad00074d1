package checkup

import (
	"fmt"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/table"
)

// Fault is why a stream cannot be used.
type Fault string

// Faults of a stream.
const (
	FaultNone        Fault = ""
	FaultNoJetStream Fault = "NoJetStream"
	FaultMissing     Fault = "Missing"
	FaultDenied      Fault = "Denied"
	FaultUnreadable  Fault = "Unreadable"
)

// Stream is one stream, as it is next to its declaration.
type Stream struct {
	Name  string
	Fault Fault
	// Cause says more of a Fault.
	Cause string
	// Differences are those from the declaration, for instance "MaxAge is
	// 1h0m0s, want 24h0m0s".
	Differences []string
	Subjects    int
	// Bytes are what it holds, MaxBytes what it may, 0 for no bound.
	Bytes, MaxBytes int64
	// RefuseWhenFull is that of the declaration.
	RefuseWhenFull bool
	Readers        []Reader
}

// Reader is a program that reads a stream.
type Reader struct {
	Name string
	// Before and Pending count the events that it had yet to be sent, at two
	// looks about a second apart.
	Before, Pending uint64
}

// checkStreams also says whether every stream could be read.
func checkStreams(streams []Stream) (findings []Finding, whole bool) {
	for _, s := range streams {
		if s.Fault == FaultNoJetStream {
			return []Finding{{Check: "JetStream", Detail: "the server keeps no streams for this user (" + s.Cause + "): " +
				"start it with JetStream (nats-server -js, or jetstream {} in its configuration), and enable JetStream for this user's account"}}, false
		}
	}
	whole = true
	for _, s := range streams {
		findings = append(findings, s.check())
		whole = whole && s.Fault == FaultNone
	}
	return findings, whole
}

// fullAt is the part of its bound from which a stream is nearly full.
const fullAt = 0.8

func (s *Stream) check() Finding {
	f := Finding{Check: "stream " + s.Name}
	switch {
	case s.Fault == FaultMissing:
		f.Detail = "is not there: the services wait for it; spokewire streams create creates it, with the credentials of admin (see deploy/nats/README.md)"
	case s.Fault == FaultDenied:
		f.Detail = "this user may not look at it: use the operator's credentials (with a local stack: eval \"$(spokewire env)\"), or grant it the permissions of deploy/nats/nats.conf"
	case s.Fault != FaultNone:
		f.Detail = "cannot be read (" + s.Cause + "): may this user make consumers of it (permissions of operator in deploy/nats/nats.conf), and does it have a leader?"
	case len(s.Differences) > 0:
		f.Detail = "has other settings: " + strings.Join(s.Differences, "; ") +
			". Nothing alters it by itself: nats stream edit " + s.Name + " does, with an admin's credentials"
	case s.MaxBytes > 0 && float64(s.Bytes) >= fullAt*float64(s.MaxBytes):
		f.Detail = fmt.Sprintf("holds %s of %s: %s", table.Size(s.Bytes), table.Size(s.MaxBytes), s.whenFull())
	default:
		f.OK, f.Detail = true, fmt.Sprintf("%d subjects", s.Subjects)
	}
	return f
}

func (s *Stream) whenFull() string {
	if s.RefuseWhenFull {
		return "once it is full, new events are refused and wait in the collectors' outboxes. Find out who sends so much: nats stream subjects " + s.Name
	}
	return "once it is full, the oldest events go, be they the last of their subject. Find out who sends so much: nats stream subjects " + s.Name
}

// Clock is one look at the server's clock.
type Clock struct {
	// Server was the server's time at a moment between Asked and Answered,
	// by this machine's clock. Zero where it was not told.
	Server, Asked, Answered time.Time
}

// maxClockOff is by how much this machine's clock may differ.
const maxClockOff = 5 * time.Second

func (c Clock) check() Finding {
	f := Finding{Check: "clock", OK: true, Detail: "as the server's"}
	if c.Server.IsZero() {
		f.OK, f.Detail = false, "the server told no time, which it does with its streams: see above"
		return f
	}
	ahead, behind := c.Asked.Sub(c.Server), c.Server.Sub(c.Answered)
	switch {
	case ahead > maxClockOff:
		f.OK, f.Detail = false, fmt.Sprintf("this machine's clock is %s ahead of the NATS server's", span(ahead))
	case behind > maxClockOff:
		f.OK, f.Detail = false, fmt.Sprintf("this machine's clock is %s behind the NATS server's", span(behind))
	}
	if !f.OK {
		f.Detail += ": set both by NTP. Spokewire decides by the server's time, but certificates, Leases and --since depend on clocks that agree"
	}
	return f
}

// BehindBy is from how many pending events on a reader may be behind.
const BehindBy = 1000

// checkReaders finds programs that fall behind: that have many events to
// read, and not fewer a second later.
func checkReaders(streams []Stream) Finding {
	total := 0
	var slow []string
	for _, s := range streams {
		total += len(s.Readers)
		for _, r := range s.Readers {
			if r.Before >= BehindBy && r.Pending >= r.Before {
				slow = append(slow, fmt.Sprintf("%s (%d events of %s)", r.Name, r.Pending, s.Name))
			}
		}
	}
	return verdictOn("readers", total, slow, "fall behind, events wait to be read: give them more CPU, or send less often")
}
