// Package ask asks a running Spokewire about the decisions of Placements: why
// a cluster was, or was not, selected, what would be decided if something
// were otherwise, and whether decisions follow from their inputs. Asking
// writes nothing.
//
//	bus, err := jetstream.Connect(ctx, jetstream.Options{URL: url})
//	answer, err := ask.Client{Bus: bus}.WhatIf(ctx, schemas.WhatIfAsk{Namespace: "default", Name: "train", Remove: []string{"spoke-1"}})
//
// Every method returns a *events.Refusal where the question is refused, with
// the field that is wrong; events.ErrNoResponder where the service inquiry
// does not run; or an error of the transport. ctx bounds the wait.
package ask

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Client asks over a bus.
type Client struct{ Bus events.Requester }

// Explain asks why a decision did, or did not, select a cluster.
func (c Client) Explain(ctx context.Context, q schemas.ExplainAsk) (*schemas.ExplainAnswer, error) {
	return request[schemas.ExplainAnswer](ctx, c.Bus, events.AskExplain, &q)
}

// WhatIf asks what would be decided now, if.
func (c Client) WhatIf(ctx context.Context, q schemas.WhatIfAsk) (*schemas.WhatIfAnswer, error) {
	return request[schemas.WhatIfAnswer](ctx, c.Bus, events.AskWhatIf, &q)
}

// Replay asks for a decision to be made again from its inputs.
func (c Client) Replay(ctx context.Context, q schemas.ReplayAsk) (*schemas.ReplayAnswer, error) {
	return request[schemas.ReplayAnswer](ctx, c.Bus, events.AskReplay, &q)
}

// Audit asks for all decisions of a period to be made again, as often as it
// takes. It calls each with every answer until there is no Next.
func (c Client) Audit(ctx context.Context, q schemas.AuditAsk, each func(*schemas.AuditAnswer) error) error {
	for next := &q; next != nil; {
		answer, err := request[schemas.AuditAnswer](ctx, c.Bus, events.AskAudit, next)
		if err != nil {
			return err
		}
		if err := each(answer); err != nil {
			return err
		}
		next = answer.Next
	}
	return nil
}

// answer is a payload type T, behind a pointer.
type answer[T any] interface {
	*T
	schemas.Payload
}

func request[T any, P answer[T]](ctx context.Context, bus events.Requester, subject string, question schemas.Payload) (P, error) {
	if err := question.Validate(); err != nil {
		return nil, fmt.Errorf("question on %s: %w", subject, err)
	}
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	reply, err := bus.Request(ctx, subject, body)
	if err != nil {
		return nil, err
	}
	found := P(new(T))
	if err := schemas.Unmarshal(reply, found); err != nil {
		return nil, fmt.Errorf("answer on %s: %w", subject, err)
	}
	return found, nil
}
