package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
)

// The stream leader answers these requests. Direct gets may be answered by a
// replica that is behind, and their answers can be forged by headers.
type getRequest struct {
	Sequence    uint64 `json:"seq,omitempty"`
	LastSubject string `json:"last_by_subj,omitempty"`
	// NextSubject asks for its first event from Sequence on.
	NextSubject string `json:"next_by_subj,omitempty"`
}

type getResponse struct {
	Error   *jetstream.APIError `json:"error"`
	Message *struct {
		Subject  string    `json:"subject"`
		Sequence uint64    `json:"seq"`
		Header   []byte    `json:"hdrs"`
		Data     []byte    `json:"data"`
		Time     time.Time `json:"time"`
	} `json:"message"`
}

// errNoMessage is the code of the server's "no message found".
const errNoMessage jetstream.ErrorCode = 10037

// Last implements events.Getter. It retries until ctx ends.
func (b *Bus) Last(ctx context.Context, stream, subject string) (events.Message, error) {
	if err := events.CheckSubject(subject); err != nil {
		return events.Message{}, err
	}
	for attempt := 1; ; attempt++ {
		m, err := b.get(ctx, stream, getRequest{LastSubject: subject})
		if err == nil || errors.Is(err, events.ErrNotFound) {
			return m, b.secrets.wrap(err)
		}
		if stop := b.pause(ctx, attempt); stop != nil {
			return m, fmt.Errorf("last of %s in %s: %w (last attempt: %w)", subject, stream, stop, b.secrets.wrap(err))
		}
	}
}

// get asks the leader once.
func (b *Bus) get(ctx context.Context, stream string, r getRequest) (events.Message, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return events.Message{}, err
	}
	reply, err := b.request(ctx, &nats.Msg{Subject: b.apiPrefix() + "STREAM.MSG.GET." + stream, Data: body})
	if err != nil {
		return events.Message{}, fmt.Errorf("get from %s: %w", stream, err)
	}
	var answer getResponse
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return events.Message{}, fmt.Errorf("get from %s: %w", stream, err)
	}
	switch {
	case answer.Error != nil && (answer.Error.ErrorCode == errNoMessage || answer.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound):
		return events.Message{}, fmt.Errorf("%s%s in %s: %w", r.LastSubject+r.NextSubject, numbered(r.Sequence), stream, events.ErrNotFound)
	case answer.Error != nil:
		return events.Message{}, fmt.Errorf("get from %s: %w", stream, answer.Error)
	case answer.Message == nil:
		return events.Message{}, fmt.Errorf("get from %s: the answer has no message", stream)
	}
	m := events.Message{
		Stream: stream, Subject: answer.Message.Subject, Sequence: answer.Message.Sequence,
		ReceivedAt: answer.Message.Time, Data: answer.Message.Data,
	}
	if len(answer.Message.Header) > 0 {
		// What does not parse is no header of ours; Decode then refuses it.
		if h, err := nats.DecodeHeadersMsg(answer.Message.Header); err == nil {
			m.Header = events.Header(h)
		}
	}
	return m, nil
}

func numbered(sequence uint64) string {
	if sequence == 0 {
		return ""
	}
	return fmt.Sprintf("number %d", sequence)
}

// request sends m and waits for the answer: until ctx ends, for AckWait, or
// until the connection is lost.
func (b *Bus) request(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	bounded, cancel := context.WithTimeoutCause(b.link.current(), b.options.AckWait, errNoAnswer)
	defer cancel()
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	reply, err := b.nc.RequestMsgWithContext(bounded, m)
	switch {
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case bounded.Err() != nil && errors.Is(context.Cause(bounded), errNoAnswer):
		return nil, fmt.Errorf("%w within %v", errNoAnswer, b.options.AckWait)
	case bounded.Err() != nil:
		return nil, errLost
	}
	return nil, err
}

var (
	errNoAnswer = errors.New("the server did not answer")
	errLost     = errors.New("the connection was lost")
)
