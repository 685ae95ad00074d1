package events

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Keeper is what it takes to keep a dead letter.
type Keeper interface {
	Publisher
	Getter
}

// Bury keeps m in SW_DEAD with the reason, once however often it is called
// for m (the subject names m, and only the first event of it is stored).
// Where a stream lost its end and gave m a sequence for the second time, m is
// kept under the same subject, after the message that had it before.
func Bury(ctx context.Context, k Keeper, service string, m Message, cause error) error {
	letter := NewDeadLetter(service, m, cause)
	e, err := New(schemas.TypeDeadLetterWritten, ServiceSource(service), &letter)
	if err != nil {
		return err
	}
	subject := DeadSubject(service, m.Stream, m.Sequence)
	_, err = k.Publish(ctx, subject, e, ExpectLast(0))
	if errors.Is(err, ErrConflict) {
		var other uint64
		if other, err = letterOfAnother(ctx, k, subject, &letter); err == nil && other > 0 {
			_, err = k.Publish(ctx, subject, e, ExpectLast(other))
		}
	}
	if err != nil {
		return fmt.Errorf("dead letter of %s %d: %w", m.Stream, m.Sequence, err)
	}
	return nil
}

// letterOfAnother returns where the last letter of subject stands if it is
// one of another message than letter's, else 0.
func letterOfAnother(ctx context.Context, g Getter, subject string, letter *schemas.DeadLetter) (uint64, error) {
	last, err := g.Last(ctx, StreamDead, subject)
	if errors.Is(err, ErrNotFound) {
		return 0, nil // it was there
	}
	if err != nil {
		return 0, err
	}
	received, err := Read(last)
	if err != nil {
		return 0, err
	}
	kept, isLetter := received.Payload.(*schemas.DeadLetter)
	if !isLetter || kept.ReceivedAt.Equal(letter.ReceivedAt) {
		return 0, nil
	}
	return last.Sequence, nil
}

// Bounds of what is kept of a dead message beside its body, so that the
// letter itself can always be stored.
const (
	maxDeadHeaders = 64
	maxDeadMessage = 4 << 10
)

// NewDeadLetter says of m what cause says. It keeps the first
// schemas.MaxDeadBody bytes of the body, and at most 64 headers without
// credentials.
func NewDeadLetter(service string, m Message, cause error) schemas.DeadLetter {
	digest := sha256.Sum256(m.Data)
	letter := schemas.DeadLetter{
		Service:    service,
		Stream:     m.Stream,
		Subject:    m.Subject,
		Sequence:   m.Sequence,
		Reason:     "Failed",
		Message:    "no reason was given",
		Headers:    deadHeaders(m.Header),
		Body:       m.Data[:min(len(m.Data), schemas.MaxDeadBody)],
		Size:       len(m.Data),
		SHA256:     hex.EncodeToString(digest[:]),
		ReceivedAt: m.ReceivedAt,
	}
	if text := cause.Error(); text != "" {
		letter.Message = strings.ToValidUTF8(text[:min(len(text), maxDeadMessage)], "")
	}
	var bad *BadInput
	if errors.As(cause, &bad) {
		letter.Reason, letter.Field = bad.Reason, bad.Field
	}
	return letter
}

func deadHeaders(h Header) map[string]string {
	kept := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(h)) {
		value := h.Get(key)
		if len(kept) == maxDeadHeaders {
			break
		}
		if len(key)+len(value) <= schemas.MaxLabelLength && !strings.EqualFold(key, "Authorization") {
			kept[key] = value
		}
	}
	return kept
}
