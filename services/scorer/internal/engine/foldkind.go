package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spokewire/spokewire/pkg/events"
)

// configKind is the kind that a subject of SW_CONFIG names, else "".
func configKind(subject string) string {
	tokens := strings.SplitN(subject, ".", 4)
	if len(tokens) < 4 || tokens[1] != events.FamilyConfig {
		return ""
	}
	return tokens[2]
}

// foldKind takes what is asked for in another kind than scorer. Others read
// those that there are; a kind that nobody reads is this service's to refuse,
// for it runs with or without a hub.
func (e *Engine) foldKind(u events.Update, kind string) {
	if u.Kind == events.Stored && !slices.Contains(events.ConfigKinds(), kind) {
		e.Bury(u.Message, &events.BadInput{Reason: "UnknownKind", Field: "subject", Err: fmt.Errorf(
			"%s: nobody reads the kind %.100q: want one of %s", u.Message.Subject, kind, strings.Join(events.ConfigKinds(), ", "))})
	}
}
