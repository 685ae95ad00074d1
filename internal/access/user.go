package access

import (
	"slices"

	"github.com/spokewire/spokewire/pkg/events"
)

// Accounts.
const (
	AccountSystem = "SYS"
	AccountHub    = "HUB"
	AccountRead   = "READ"
	AccountSpokes = "SPOKES"
	AccountUsers  = "USERS"
)

// Users that every layout has.
const (
	// Admin creates the streams in HUB, and may do nothing else.
	Admin = "admin"
	// ReadAdmin creates the mirrors in READ, and may do nothing else.
	ReadAdmin = "read-admin"
	// Operator publishes metrics, scores and configuration, drops dead
	// letters, asks about decisions, and reads every stream.
	Operator = "operator"
	// System watches the server itself.
	System = "sys"
)

// User is one user of the configuration.
type User struct {
	Name, Account string
	// Publish and Subscribe are the subjects allowed, all others are denied.
	// Both empty means that the account is the only bound.
	Publish, Subscribe []string
	// Answers lets the user publish one answer to what it is asked, where it
	// is to go.
	Answers bool
}

// SpokeUser is the name of a cluster's user.
func SpokeUser(cluster string) string { return "cluster-" + events.EncodeToken(cluster) }

// OutsiderUser is the name of an outsider's user.
func OutsiderUser(name string) string { return "user-" + events.EncodeToken(name) }

// CollectorUser is the name of the user of a collector beside the hub.
func CollectorUser(name string) string { return "collector-" + events.EncodeToken(name) }

// InboxPrefix is the only inbox prefix that a user may subscribe to. name is
// the cluster for a spoke, collector-NAME for a collector beside the hub, the
// outsider's name, or the service; the operator
// has the prefix _INBOX, so that stock clients need no option.
func InboxPrefix(name string) string {
	if name == Operator {
		return "_INBOX"
	}
	return "_INBOX_" + events.EncodeToken(name)
}

// Users returns every user of the layout in the order of the configuration:
// the fixed ones, services, spokes, collectors, outsiders.
func (l Layout) Users() []User {
	users := []User{
		{Name: System, Account: AccountSystem},
		adminUser(Admin, AccountHub),
		adminUser(ReadAdmin, AccountRead),
		operatorUser(),
	}
	for _, name := range l.Services {
		users = append(users, serviceUser(name))
	}
	for _, s := range l.Spokes {
		users = append(users, spokeUser(s))
	}
	for _, c := range l.Collectors {
		users = append(users, collecting(CollectorUser(c.Name), "collector-"+c.Name, c.Metrics...))
	}
	for _, o := range l.Outsiders {
		users = append(users, outsiderUser(o))
	}
	return users
}

// spokeUser answers what is asked of its cluster, besides. microSubjects are
// what every answering program listens to; nobody in SPOKES may ask there.
func spokeUser(g Grant) User {
	u := collecting(SpokeUser(g.Cluster), g.Cluster, g)
	u.Subscribe = append(u.Subscribe, events.QuerySubject(g.Cluster), microSubjects)
	u.Answers = true
	return u
}

// collecting is a user that publishes what grants list, and the backlog of
// it.
func collecting(name, inbox string, grants ...Grant) User {
	u := User{Name: name, Account: AccountSpokes, Subscribe: []string{InboxPrefix(inbox) + ".>"}}
	for _, g := range grants {
		u.Publish = append(u.Publish, g.subjects(events.FamilyMetric)...)
		u.Publish = append(u.Publish, g.subjects(events.FamilyBackfill)...)
	}
	return u
}

func adminUser(name, account string) User {
	return User{Name: name, Account: account, Publish: []string{apiPrefix + ">"}, Subscribe: []string{InboxPrefix(name) + ".>"}}
}

// operatorUser names no streams, so that it reads those of the future too.
func operatorUser() User {
	publish := []string{
		"sw.metric.*.*", "sw.score.*.*", "sw.config.*.*.*", events.DropSubject("") + "*", events.AskSubjects, microSubjects, "$JS.ACK.>", "$JS.FC.>",
	}
	for _, op := range []string{
		"INFO", "STREAM.NAMES", "STREAM.LIST", "STREAM.INFO.*", "STREAM.MSG.GET.*", "DIRECT.GET.>",
		"CONSUMER.CREATE.>", "CONSUMER.DURABLE.CREATE.>", "CONSUMER.INFO.*.*", "CONSUMER.MSG.NEXT.*.*",
		"CONSUMER.DELETE.*.*", "CONSUMER.NAMES.*", "CONSUMER.LIST.*",
	} {
		publish = append(publish, apiPrefix+op)
	}
	return User{Name: Operator, Account: AccountHub, Publish: publish, Subscribe: []string{InboxPrefix(Operator) + ".>", "sw.>"}}
}

func outsiderUser(o Outsider) User {
	u := User{Name: OutsiderUser(o.Name), Account: AccountUsers, Subscribe: []string{InboxPrefix(o.Name) + ".>"}}
	for _, g := range o.Metrics {
		u.Publish = append(u.Publish, g.subjects(events.FamilyMetric)...)
	}
	if o.Decisions {
		for _, stream := range mirrored() {
			for _, c := range readerCalls(stream) {
				u.Publish = append(u.Publish, readAPI+c.subject)
			}
		}
	}
	slices.Sort(u.Publish)
	return u
}
