// Package desk answers the questions that come over the bus.
package desk

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/inquiry/internal/archive"
)

// Desk answers. It keeps nothing between two questions and writes nothing.
type Desk struct {
	archive  *archive.Archive
	compiler *score.Compiler
}

// New returns a Desk that reads bus.
func New(bus archive.Bus) (*Desk, error) {
	compiler, err := score.NewCompiler()
	if err != nil {
		return nil, err
	}
	return &Desk{archive: &archive.Archive{Bus: bus}, compiler: compiler}, nil
}

// Endpoints are the questions that it answers.
func (d *Desk) Endpoints() []events.Endpoint {
	return []events.Endpoint{
		endpoint("explain", events.AskExplain, d.Explain),
		endpoint("whatif", events.AskWhatIf, d.WhatIf),
		endpoint("replay", events.AskReplay, d.Replay),
		endpoint("audit", events.AskAudit, d.Audit),
	}
}

// ask is a question's payload type T, behind a pointer.
type ask[T any] interface {
	*T
	schemas.Payload
}

// endpoint reads the question and writes the answer. What is wrong with a
// question is told with the field's name.
func endpoint[T any, P ask[T], A schemas.Payload](name, subject string, answer func(context.Context, P) (A, error)) events.Endpoint {
	return events.Endpoint{Name: name, Subject: subject, Answer: func(ctx context.Context, data []byte) ([]byte, error) {
		question := P(new(T))
		if err := schemas.Unmarshal(data, question); err != nil {
			return nil, refused(err)
		}
		found, err := answer(ctx, question)
		if err != nil {
			return nil, refused(err)
		}
		return json.Marshal(found)
	}}
}

// refused turns a bad field into a refusal.
func refused(err error) error {
	var field *schemas.FieldError
	if errors.As(err, &field) {
		return &events.Refusal{Code: events.RefusedBad, Field: field.Field, Message: field.Reason}
	}
	return err
}
