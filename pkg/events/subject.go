package events

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spokewire/spokewire/pkg/events/internal/filter"
)

// ErrBadSubject is wrapped by every error about a subject that no part of
// Spokewire would have written.
var ErrBadSubject = errors.New("bad subject")

// Families of subjects: the token after "sw".
const (
	FamilyMetric   = "metric"
	FamilyBackfill = "backfill"
	FamilyScore    = "score"
	FamilyHub      = "hub"
	FamilyConfig   = "config"
	FamilyDecision = "decision"
	FamilyReceipt  = "receipt"
	FamilyDead     = "dead"
	FamilyStatus   = "status"
)

// Kinds of objects, as they stand in subjects.
const (
	KindCluster           = "cluster"
	KindClusterSet        = "clusterset"
	KindBinding           = "binding"
	KindPlacement         = "placement"
	KindAddOnScore        = "addonscore"
	KindPlacementDecision = "placementdecision"
	KindScorer            = "scorer"
	KindPolicy            = "placementpolicy"
	KindCordon            = "cordon"
	KindRebalance         = "rebalance"
	KindScore             = "score"
	KindDynamicScorer     = "dynamicscorer"
	KindScoringConfig     = "dynamicscoringconfig"
	KindSlice             = "slice" // SIG-Multicluster's PlacementDecisions of a Placement, in receipts alone
	// KindShadow is a decision that nobody carries out: what Spokewire would
	// decide of a Placement that OCM decides.
	KindShadow = "shadow"
)

// ConfigKinds are the kinds that can be asked for over the bus.
func ConfigKinds() []string {
	return []string{
		KindScorer, KindPlacement, KindPolicy, KindCordon, KindRebalance, KindDynamicScorer, KindScoringConfig,
	}
}

// Subject is a parsed subject of the bus. Which fields are set depends on
// the family:
//
//	sw.metric.<Cluster>.<Name>      Name is the source
//	sw.backfill.<Cluster>.<Name>
//	sw.score.<Cluster>.<Name>       Name is the scorer
//	sw.hub.<Kind>.<Namespace>.<Name>
//	sw.config.<Kind>.<Namespace>.<Name>
//	sw.decision.<Kind>.<Namespace>.<Name>
//	sw.receipt.<Kind>.<Namespace>.<Name>
//	sw.status.<Kind>.<Namespace>.<Name>
//	sw.dead.<Name>.<Namespace>      Name is the service, Namespace STREAM-SEQUENCE
//	sw.dead.operator.<Namespace>    Namespace is the id of a drop
type Subject struct {
	Family, Kind, Cluster, Namespace, Name string
}

// MetricSubject is where the snapshots of one source of one cluster go.
func MetricSubject(cluster, source string) string { return join(FamilyMetric, cluster, source) }

// BackfillSubject is where a source's snapshots go that waited in an outbox
// and are no longer the newest.
func BackfillSubject(cluster, source string) string { return join(FamilyBackfill, cluster, source) }

// ScoreSubject is where one scorer's scores of one cluster go.
func ScoreSubject(cluster, scorer string) string { return join(FamilyScore, cluster, scorer) }

// HubSubject is where the bridge says what it observed of an object. The
// namespace is empty for an object that has none.
func HubSubject(kind, namespace, name string) string { return object(FamilyHub, kind, namespace, name) }

// ConfigSubject is where users ask for an object.
func ConfigSubject(kind, namespace, name string) string {
	return object(FamilyConfig, kind, namespace, name)
}

// DecisionSubject is where decisions about an object go.
func DecisionSubject(kind, namespace, name string) string {
	return object(FamilyDecision, kind, namespace, name)
}

// ReceiptSubject is where the bridge says what it did.
func ReceiptSubject(kind, namespace, name string) string {
	return object(FamilyReceipt, kind, namespace, name)
}

// StatusSubject is where a service says how an object fares that it works
// for.
func StatusSubject(kind, namespace, name string) string {
	return object(FamilyStatus, kind, namespace, name)
}

// DeadSubject is where service keeps the message that stood at sequence of
// stream. One message has one subject, so that it is kept once.
func DeadSubject(service, stream string, sequence uint64) string {
	return join(FamilyDead, service, stream+"-"+strconv.FormatUint(sequence, 10))
}

// DeadOperator stands in the place of the service in the subjects on which
// the operator drops dead letters; no service has this name.
const DeadOperator = "operator"

// DropSubject is where the operator drops dead letters. id is the event's,
// so that no drop takes the place of another.
func DropSubject(id string) string { return join(FamilyDead, DeadOperator, id) }

// CheckSubject refuses, with ErrBadSubject, what no event can be stored
// under: empty tokens, wildcards, white space.
func CheckSubject(subject string) error {
	if err := filter.CheckSubject(subject); err != nil {
		return fmt.Errorf("%w: %w", ErrBadSubject, err)
	}
	return nil
}

func object(family, kind, namespace, name string) string {
	ns := NoNamespace
	if namespace != "" {
		ns = EncodeToken(namespace)
	}
	return "sw." + family + "." + EncodeToken(kind) + "." + ns + "." + EncodeToken(name)
}

func join(family, first, second string) string {
	return "sw." + family + "." + EncodeToken(first) + "." + EncodeToken(second)
}

// String writes s as a subject of the bus; it is the reverse of
// ParseSubject.
func (s Subject) String() string {
	switch s.Family {
	case FamilyMetric, FamilyBackfill, FamilyScore:
		return join(s.Family, s.Cluster, s.Name)
	case FamilyDead:
		return join(s.Family, s.Name, s.Namespace)
	}
	return object(s.Family, s.Kind, s.Namespace, s.Name)
}

// ParseSubject is the reverse of the functions above. Every error wraps
// ErrBadSubject.
func ParseSubject(subject string) (Subject, error) {
	tokens := strings.Split(subject, ".")
	if len(tokens) < 4 || tokens[0] != "sw" {
		return Subject{}, fmt.Errorf("%w: %q is not sw.FAMILY.…", ErrBadSubject, subject)
	}
	s := Subject{Family: tokens[1]}
	switch s.Family {
	case FamilyMetric, FamilyBackfill, FamilyScore:
		return s.parse(subject, tokens[2:], &s.Cluster, &s.Name)
	case FamilyDead:
		return s.parse(subject, tokens[2:], &s.Name, &s.Namespace)
	case FamilyHub, FamilyConfig, FamilyDecision, FamilyReceipt, FamilyStatus:
		return s.parse(subject, tokens[2:], &s.Kind, &s.Namespace, &s.Name)
	}
	return Subject{}, fmt.Errorf("%w: %q has the unknown family %q", ErrBadSubject, subject, s.Family)
}

func (s *Subject) parse(subject string, tokens []string, into ...*string) (Subject, error) {
	if len(tokens) != len(into) {
		return Subject{}, fmt.Errorf("%w: %q has %d tokens after its family, want %d", ErrBadSubject, subject, len(tokens), len(into))
	}
	for i, token := range tokens {
		if token == NoNamespace && into[i] == &s.Namespace && s.Family != FamilyDead {
			continue
		}
		name, err := DecodeToken(token)
		if err != nil {
			return Subject{}, fmt.Errorf("subject %q: %w", subject, err)
		}
		*into[i] = name
	}
	return *s, nil
}
