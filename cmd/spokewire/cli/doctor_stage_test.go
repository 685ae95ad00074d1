package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// perSource is fewer events than the stream keeps of a subject.
const perSource = 50

// reader leaves a reader of the given name at a stream of metrics, and so many
// events there which it never reads.
func reader(ts *testscript.TestScript, _ bool, args []string) {
	s, stream, name := scriptedOf(ts), args[0], args[1]
	waiting, err := strconv.Atoi(args[2])
	ts.Check(err)
	connection, err := nats.Connect(s.url)
	ts.Check(err)
	defer connection.Close()
	js, err := natsjetstream.New(connection)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	_, err = js.CreateConsumer(ctx, stream, natsjetstream.ConsumerConfig{Durable: "durable-" + name, Description: name})
	ts.Check(err)
	for i := range waiting {
		source := fmt.Sprintf("s%d", i/perSource)
		e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource("spoke-1", source), &schemas.Metrics{Samples: []schemas.Sample{{Name: "a", Value: float64(i)}}})
		ts.Check(err)
		_, err = s.bus.Publish(ctx, events.MetricSubject("spoke-1", source), e)
		ts.Check(err)
	}
}

// ageing returns the URL at which the server at target seems to have a clock
// that is so many years ahead.
func ageing(t *testing.T, target string, years int) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := new(net.Dialer).DialContext(t.Context(), "tcp", target)
			if err != nil {
				_ = client.Close()
				continue
			}
			running.Go(func() { shift(client, server, years) })
			running.Go(func() {
				_, _ = io.Copy(server, client)
				_ = server.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return "nats://" + listener.Addr().String()
}

// shift passes on what the server sends, with another year where it says what
// time it is. It does so line by line: no answer of the server's is more than
// one, and none gets longer.
func shift(client, server net.Conn, years int) {
	defer func() { _ = client.Close() }()
	year := time.Now().UTC().Year()
	is, seems := fmt.Appendf(nil, `"ts":"%d-`, year), fmt.Appendf(nil, `"ts":"%d-`, year+years)
	lines := bufio.NewReader(server)
	for {
		line, err := lines.ReadBytes('\n')
		if _, failed := client.Write(bytes.ReplaceAll(line, is, seems)); failed != nil || err != nil {
			return
		}
	}
}
