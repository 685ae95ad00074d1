package access

import (
	"fmt"
	"strings"

	"github.com/spokewire/spokewire/pkg/events"
)

// account is one account as the configuration has it.
type account struct {
	name string
	// settings are lines as they stand.
	settings         []string
	exports, imports []string
}

// Connections that an account takes: a few for each of its users, so that
// one program that leaks them is noticed. The server has no limit per user.
const (
	connectionsPerSpoke    = 4
	connectionsPerOutsider = 16
	connectionsSpare       = 16
)

func (l Layout) accounts() []account {
	return []account{
		{name: AccountSystem},
		hubAccount(),
		readAccount(),
		{
			name:     AccountSpokes,
			settings: connectionLimit(len(l.Spokes)+len(l.Collectors), connectionsPerSpoke),
			exports:  []string{exportService(events.QuerySubjects, false, AccountHub)},
			imports:  []string{importService(AccountHub, "sw.metric.*.*", ""), importService(AccountHub, "sw.backfill.*.*", "")},
		},
		{
			name:     AccountUsers,
			settings: connectionLimit(len(l.Outsiders), connectionsPerOutsider),
			imports:  append([]string{importService(AccountHub, "sw.metric.*.*", "")}, mirrorImports()...),
		},
	}
}

// hubAccount exports services only: an answer to a service's caller cannot
// land on another subject.
func hubAccount() account {
	a := account{
		name: AccountHub, settings: []string{"jetstream: enabled"},
		exports: []string{
			exportService("sw.metric.*.*", false, AccountSpokes, AccountUsers),
			exportService("sw.backfill.*.*", false, AccountSpokes),
			exportService("$JS.FC.>", false, AccountRead),
			exportStream(mirrorDeliver+".>", AccountRead),
		},
		imports: []string{importService(AccountSpokes, events.QuerySubjects, "")},
	}
	for _, subject := range mirrorCalls() {
		a.exports = append(a.exports, exportService(apiPrefix+subject, false, AccountRead))
	}
	return a
}

// mirrorCalls are the API calls of a mirror to its original. Without the
// bare one the mirror stays empty and reports no lag.
func mirrorCalls() []string {
	var list []string
	for _, stream := range mirrored() {
		list = append(list, "CONSUMER.CREATE."+stream, "CONSUMER.CREATE."+stream+".>")
	}
	return list
}

func readAccount() account {
	a := account{
		name:     AccountRead,
		settings: []string{fmt.Sprintf("jetstream: {max_streams: %d}", len(mirrored()))},
		imports: []string{
			importService(AccountHub, "$JS.FC.>", ""),
			fmt.Sprintf("{stream: {account: %s, subject: %q}}", AccountHub, mirrorDeliver+".>"),
		},
	}
	for _, subject := range mirrorCalls() {
		a.imports = append(a.imports, importService(AccountHub, apiPrefix+subject, hubAPI+"."+subject))
	}
	for _, stream := range mirrored() {
		for _, c := range readerCalls(stream) {
			a.exports = append(a.exports, exportService(apiPrefix+c.subject, c.stream, AccountUsers))
		}
	}
	return a
}

func mirrorImports() []string {
	var list []string
	for _, stream := range mirrored() {
		for _, c := range readerCalls(stream) {
			list = append(list, importService(AccountRead, apiPrefix+c.subject, readAPI+c.subject))
		}
	}
	return list
}

func connectionLimit(users, each int) []string {
	return []string{fmt.Sprintf("limits: {max_connections: %d}", users*each+connectionsSpare)}
}

func exportService(subject string, streamed bool, accounts ...string) string {
	response := ""
	if streamed {
		response = ", response_type: stream"
	}
	return fmt.Sprintf("{service: %q, accounts: [%s]%s}", subject, strings.Join(accounts, ", "), response)
}

func exportStream(subject string, accounts ...string) string {
	return fmt.Sprintf("{stream: %q, accounts: [%s]}", subject, strings.Join(accounts, ", "))
}

func importService(account, subject, to string) string {
	mapping := ""
	if to != "" {
		mapping = fmt.Sprintf(", to: %q", to)
	}
	return fmt.Sprintf("{service: {account: %s, subject: %q}%s}", account, subject, mapping)
}

// maxStore is what the streams and their mirrors reserve: with less, the
// last of them cannot be created.
func maxStore() int64 {
	var sum int64
	for _, s := range events.Streams() {
		sum += s.MaxBytes
	}
	for _, m := range Mirrors() {
		sum += m.Stream.MaxBytes
	}
	return sum
}
