package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/table"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// maxInput bounds a file that is read as a whole, and a line of one that is
// read by lines.
const maxInput = 32 << 20

// openInput opens file, or standard input for "-".
func openInput(c *cobra.Command, file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(c.InOrStdin()), nil
	}
	return os.Open(file)
}

// readInput reads all of file, or of standard input for "-".
func readInput(c *cobra.Command, file string) ([]byte, error) {
	in, err := openInput(c, file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	case len(text) > maxInput:
		return nil, fmt.Errorf("%s is larger than %d MiB", file, maxInput>>20)
	}
	return text, nil
}

// sniffEvents reports whether in holds JSON rather than Prometheus text, in
// which no line begins with a brace.
func sniffEvents(in io.Reader) (bool, *bufio.Reader, error) {
	r := bufio.NewReader(in)
	for n := 1; n <= r.Size(); n++ {
		head, err := r.Peek(n)
		if len(head) < n {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return false, r, err
		}
		switch head[n-1] {
		case ' ', '\t', '\r', '\n':
		default:
			return head[n-1] == '{', r, nil
		}
	}
	return false, r, nil
}

// publishEvents publishes each line as it comes, so that a program may keep
// writing into the pipe. It ends at the first line that is refused.
func (p *publishing) publishEvents(c *cobra.Command, text io.Reader) error {
	return p.app.withBus(c.Context(), func(ctx context.Context, b *jetstream.Bus) error {
		lines := bufio.NewScanner(text)
		lines.Buffer(make([]byte, 0, 64<<10), maxInput)
		count := 0
		for number := 1; lines.Scan(); number++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			if err := p.publishLine(ctx, c, b, lines.Bytes()); err != nil {
				return fmt.Errorf("%s line %d: %w (%s)", p.file, number, err, storedBefore(count))
			}
			count++
		}
		return lines.Err()
	})
}

func storedBefore(count int) string {
	switch count {
	case 0:
		return "nothing before it is stored"
	case 1:
		return "the event before it is stored"
	}
	return fmt.Sprintf("%d events before it are stored", count)
}

func (p *publishing) publishLine(ctx context.Context, c *cobra.Command, b bus, line []byte) error {
	subject, e, err := p.readEvent(line)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.app.timeout)
	defer cancel()
	return p.store(ctx, c, b, subject, e)
}

// readEvent reads a structured CloudEvent and works out its subject. It
// refuses what every reader of the bus would refuse.
func (p *publishing) readEvent(line []byte) (string, event.Event, error) {
	var e event.Event
	err := e.UnmarshalJSON(line)
	if err == nil {
		err = e.Validate()
	}
	if err != nil {
		return "", e, fmt.Errorf("is no structured CloudEvent: %s; want one JSON object a line, with specversion, id, type, source and data", strings.TrimSuffix(table.OneLine(strings.TrimSpace(err.Error())), "."))
	}
	subject, err := p.subjectOf(e)
	if err != nil {
		return "", e, err
	}
	header, data, err := events.Encode(e)
	if err != nil {
		return "", e, err
	}
	_, err = events.Read(events.Message{Subject: subject, Header: header, Data: data})
	return subject, e, err
}

func (p *publishing) subjectOf(e event.Event) (string, error) {
	switch e.Type() {
	case schemas.TypeMetricsObserved:
		cluster, source, err := parseClusterSource(e.Source())
		if err != nil {
			return "", err
		}
		if p.cluster != "" && p.cluster != cluster || p.source != "" && p.source != source {
			return "", fmt.Errorf("source is %q, but --cluster and --source say %q", e.Source(), events.ClusterSource(p.cluster, p.source))
		}
		return events.MetricSubject(cluster, source), nil
	case schemas.TypeScoreComputed:
		payload, err := schemas.Decode(e.Type(), e.Data())
		if err != nil {
			return "", err
		}
		score := payload.(*schemas.Score)
		return events.ScoreSubject(score.Cluster, score.Scorer), nil
	}
	return "", fmt.Errorf("type is %q, want %s or %s (what users ask for goes by spokewire apply)", e.Type(), schemas.TypeMetricsObserved, schemas.TypeScoreComputed)
}

// parseClusterSource is the reverse of events.ClusterSource.
func parseClusterSource(source string) (cluster, name string, err error) {
	parts := strings.Split(source, "/")
	if len(parts) == 5 {
		var clusterErr, nameErr error
		cluster, clusterErr = url.PathUnescape(parts[2])
		name, nameErr = url.PathUnescape(parts[4])
		if clusterErr == nil && nameErr == nil && cluster != "" && name != "" && events.ClusterSource(cluster, name) == source {
			return cluster, name, nil
		}
	}
	return "", "", fmt.Errorf("source is %q, want /clusters/CLUSTER/sources/SOURCE", source)
}
