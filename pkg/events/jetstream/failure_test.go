package jetstream

import (
	"errors"
	"net"
	"testing"

	"github.com/nats-io/nats.go"
)

func TestFailureTellsWhatIsNew(t *testing.T) {
	t.Parallel()
	read := func(port int, reason string) error {
		return &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: port}, Err: errors.New(reason)}
	}
	var f failure
	for _, step := range []struct {
		name string
		err  error
		want bool
	}{
		{"nothing", nil, false},
		{"what the client says in place of a reason", nats.ErrNoServers, false},
		{"the first", read(1, "reset"), true},
		{"the same from another port", read(2, "reset"), false},
		{"no reason does not replace one", nats.ErrNoServers, false},
		{"another reason", read(3, "timeout"), true},
	} {
		if got := f.note(step.err); got != step.want {
			t.Errorf("%s: new is %v, want %v", step.name, got, step.want)
		}
	}
	if got := f.last(); got == nil || got.Error() != read(3, "timeout").Error() {
		t.Errorf("last is %v, want the timeout", got)
	}
	if f.forget(); f.last() != nil {
		t.Error("it is not forgotten")
	}
}
