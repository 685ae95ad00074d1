// Package access lays out who may do what on the bus: NATS accounts, users
// and permissions, as the text of a nats-server configuration.
//
//	HUB     the streams, the hub services, the operator and the admin who creates streams
//	READ    mirrors of the decisions, nothing else
//	SPOKES  one user a cluster: publishes its own sources' metrics, answers what dynamic scorers ask of it; one a collector beside the hub
//	USERS   outside publishers of metrics and readers of decisions
//	SYS     the server's own
//
// Accounts are the wall: a user's publish permissions do not cover the reply
// subject of what it publishes, so a spoke in HUB could have the server's
// acknowledgement stored as state. Across accounts a reply comes back to its
// sender only. Outside readers work on READ's mirror, for who may create a
// consumer in an account can have it deliver to any subject of that account.
// For the same reason every user in HUB is trusted not to forge: permissions
// there guard against mistakes.
//
// Generating is pure: [Config] returns the same text for the same layout and
// secrets. [Issue] makes the secrets from a source of randomness that the
// caller holds.
package access
