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

// Bury keeps m in SW_DEAD with the reason, once however often it is called
// for m (the subject names m, and only the first event of it is stored).
func Bury(ctx context.Context, p Publisher, service string, m Message, cause error) error {
	letter := NewDeadLetter(service, m, cause)
	e, err := New(schemas.TypeDeadLetterWritten, ServiceSource(service), &letter)
	if err != nil {
		return err
	}
	_, err = p.Publish(ctx, DeadSubject(service, m.Stream, m.Sequence), e, ExpectLast(0))
	if err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("dead letter of %s %d: %w", m.Stream, m.Sequence, err)
	}
	return nil
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
