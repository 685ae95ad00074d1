package events

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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

// NewDeadLetter says of m what cause says.
func NewDeadLetter(service string, m Message, cause error) schemas.DeadLetter {
	letter := schemas.DeadLetter{
		Service:    service,
		Stream:     m.Stream,
		Subject:    m.Subject,
		Sequence:   m.Sequence,
		Reason:     "Failed",
		Message:    cause.Error(),
		Headers:    map[string]string{},
		Body:       m.Data[:min(len(m.Data), schemas.MaxDeadBody)],
		Size:       len(m.Data),
		ReceivedAt: m.ReceivedAt,
	}
	digest := sha256.Sum256(m.Data)
	letter.SHA256 = hex.EncodeToString(digest[:])
	var bad *BadInput
	if errors.As(cause, &bad) {
		letter.Reason, letter.Field = bad.Reason, bad.Field
	}
	for key := range m.Header {
		if value := m.Header.Get(key); len(value) <= schemas.MaxLabelLength && !strings.EqualFold(key, "Authorization") {
			letter.Headers[key] = value
		}
	}
	return letter
}
