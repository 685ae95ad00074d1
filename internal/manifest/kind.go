package manifest

import (
	"fmt"
	"strings"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Kind is one kind of object that can be asked for over the bus.
type Kind struct {
	Name       string // as it stands in a manifest
	Namespaced bool
	// Bridged: the bridge creates the object on the hub, and answers.
	Bridged bool
	// OnHub: the hub may have objects of the kind that it owns itself.
	OnHub bool
	// EventType is that of the request, DeletedType that of its tombstone.
	EventType, DeletedType string

	subject string // the kind's token in subjects
	plural  string // where it is not the name with an s
	read    func(data []byte, o Object) (schemas.Payload, error)
}

// Kinds returns every kind.
func Kinds() []Kind {
	return []Kind{
		{
			Name: schemas.ScorerKind, subject: events.KindScorer, read: readScorer,
			EventType: schemas.TypeConfigScorer, DeletedType: schemas.TypeConfigScorerDeleted,
		},
		{
			Name: schemas.PlacementKind, Namespaced: true, Bridged: true, OnHub: true, subject: events.KindPlacement, read: readPlacement,
			EventType: schemas.TypeConfigPlacement, DeletedType: schemas.TypeConfigPlacementDeleted,
		},
		{
			Name: schemas.PlacementPolicyKind, subject: events.KindPolicy, read: readPolicy, plural: "placementpolicies",
			EventType: schemas.TypeConfigPolicy, DeletedType: schemas.TypeConfigPolicyDeleted,
		},
		{
			Name: schemas.CordonKind, subject: events.KindCordon, read: readCordon,
			EventType: schemas.TypeConfigCordon, DeletedType: schemas.TypeConfigCordonDeleted,
		},
		{
			Name: schemas.DynamicScorerKind, Namespaced: true, OnHub: true, subject: events.KindDynamicScorer, read: readDynamicScorer,
			EventType: schemas.TypeConfigDynamicScorer, DeletedType: schemas.TypeConfigDynamicScorerDeleted,
		},
		{
			Name: schemas.DynamicScoringConfigKind, Namespaced: true, OnHub: true, subject: events.KindScoringConfig, read: readScoringConfig,
			EventType: schemas.TypeConfigScoringConfig, DeletedType: schemas.TypeConfigScoringConfigDeleted,
		},
	}
}

// KindOf finds a kind by its name in any case, singular or plural.
func KindOf(name string) (Kind, error) {
	lower := strings.ToLower(name)
	var known []string
	for _, k := range Kinds() {
		if strings.ToLower(k.Name) == strings.TrimSuffix(lower, "s") || k.plural != "" && k.plural == lower {
			return k, nil
		}
		known = append(known, k.Name)
	}
	last := len(known) - 1
	return Kind{}, fmt.Errorf("%q is not known, want %s or %s", name, strings.Join(known[:last], ", "), known[last])
}

// Subject is where requests for the object go.
func (k Kind) Subject(namespace, name string) string {
	return events.ConfigSubject(k.subject, namespace, name)
}

// HubSubject is where the bridge says what the hub has of the object.
func (k Kind) HubSubject(namespace, name string) string {
	return events.HubSubject(k.subject, namespace, name)
}

// Describe names an object of the kind as messages do.
func (k Kind) Describe(namespace, name string) string {
	if k.Namespaced {
		name = namespace + "/" + name
	}
	return k.Name + " " + name
}

// ParseName reads NAME, or NAMESPACE/NAME for a namespaced kind, where NAME
// alone is in DefaultNamespace.
func (k Kind) ParseName(text string) (namespace, name string, err error) {
	namespace, name, found := strings.Cut(text, "/")
	if !found {
		namespace, name = "", text
		if k.Namespaced {
			namespace = DefaultNamespace
		}
	}
	switch {
	case found && !k.Namespaced:
		return "", "", fmt.Errorf("%q: a %s has no namespace, want NAME", text, k.Name)
	case name == "" || found && namespace == "" || strings.Contains(name, "/"):
		return "", "", fmt.Errorf("%q is not a name, want NAMESPACE/NAME or NAME", text)
	}
	return namespace, name, nil
}
