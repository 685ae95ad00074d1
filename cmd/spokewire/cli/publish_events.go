package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

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
	if err := checkUTF8(text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return text, nil
}

// checkUTF8 says where text is not UTF-8, which JSON and YAML are.
func checkUTF8(text []byte) error {
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return errors.New("is not UTF-8 but UTF-16, by its first two bytes: save it as UTF-8")
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Errorf("is not UTF-8: line %d has the byte 0x%02x, at offset %d of the text", 1+bytes.Count(text[:at], []byte{'\n'}), text[at], at)
		}
		at += size
	}
	return nil
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
	r, err := events.ReadDocument(line)
	var bad *events.BadInput
	if errors.As(err, &bad) && bad.Reason == "NotCloudEvent" {
		return "", r.Event, fmt.Errorf("%s; want one JSON object a line, with specversion, id, type, source and data", strings.TrimSuffix(table.OneLine(strings.TrimSpace(err.Error())), "."))
	}
	if err != nil {
		return "", r.Event, err
	}
	subject, err := p.subjectOf(r)
	if err != nil {
		return "", r.Event, err
	}
	return subject, r.Event, readableOn(subject, r.Event)
}

// readableOn returns why readers of the bus would refuse e on subject.
func readableOn(subject string, e event.Event) error {
	header, data, err := events.Encode(e)
	if err != nil {
		return err
	}
	_, err = events.Read(events.Message{Subject: subject, Header: header, Data: data})
	return err
}

func (p *publishing) subjectOf(r events.Received) (string, error) {
	switch payload := r.Payload.(type) {
	case *schemas.Metrics:
		cluster, source, err := events.ParseClusterSource(r.Event.Source())
		if err != nil {
			return "", err
		}
		if p.cluster != "" && p.cluster != cluster || p.source != "" && p.source != source {
			return "", fmt.Errorf("source is %q, but --cluster and --source say %q", r.Event.Source(), events.ClusterSource(p.cluster, p.source))
		}
		return events.MetricSubject(cluster, source), nil
	case *schemas.Score:
		return events.ScoreSubject(payload.Cluster, payload.Scorer), nil
	}
	return "", fmt.Errorf("type is %q, want %s or %s (what users ask for goes by spokewire apply)", r.Event.Type(), schemas.TypeMetricsObserved, schemas.TypeScoreComputed)
}
