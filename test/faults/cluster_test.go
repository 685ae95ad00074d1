package faults

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
)

// loseFollower kills a server of three that leads none of the streams which
// matter, for a while.
func loseFollower() scenario {
	return scenario{name: "lose-follower", bound: 10 * time.Second, strike: func(t *testing.T, r *round) {
		leader := r.streamLeader(t, events.StreamMetrics)
		others := slices.DeleteFunc(r.servers(), func(name string) bool { return name == leader })
		r.lose(t, others[r.random.IntN(len(others))])
	}}
}

// loseLeader kills the one that leads a stream.
func loseLeader() scenario {
	return scenario{name: "lose-leader", bound: 15 * time.Second, strike: func(t *testing.T, r *round) {
		streams := []string{events.StreamMetrics, events.StreamScores, events.StreamDecisions}
		r.lose(t, r.streamLeader(t, streams[r.random.IntN(len(streams))]))
	}}
}

func (r *round) lose(t *testing.T, server string) {
	t.Helper()
	must(t, r.stack.Crash(server))
	wait(t, r.pick(20*time.Second, 4*time.Second))
	must(t, r.stack.Continue(t.Context(), server))
	wait(t, 500*time.Millisecond)
}

func (r *round) servers() []string {
	return slices.DeleteFunc(r.stack.Processes(), func(name string) bool { return !strings.HasPrefix(name, "nats") })
}

// streamLeader is the process that leads a stream.
func (r *round) streamLeader(t *testing.T, stream string) string {
	t.Helper()
	url, err := r.stack.OperatorURL()
	must(t, err)
	conn, err := nats.Connect(url)
	must(t, err)
	defer conn.Close()
	leader := ""
	left := testwait.Until(t.Context(), 20*time.Second, func() string {
		answer, err := conn.Request("$JS.API.STREAM.INFO."+stream, nil, 2*time.Second)
		if err != nil {
			return err.Error()
		}
		var info struct {
			Cluster struct {
				Leader string `json:"leader"`
			} `json:"cluster"`
		}
		must(t, json.Unmarshal(answer.Data, &info))
		leader = strings.TrimPrefix(info.Cluster.Leader, "spokewire-")
		if !slices.Contains(r.servers(), leader) {
			return "the leader of " + stream + " is " + info.Cluster.Leader
		}
		return ""
	})
	if left != "" {
		t.Fatal(left)
	}
	return leader
}
