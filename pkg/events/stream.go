package events

import "time"

// Names of the streams.
const (
	StreamMetrics   = "SW_METRICS"
	StreamBackfill  = "SW_BACKFILL"
	StreamScores    = "SW_SCORES"
	StreamHub       = "SW_HUB"
	StreamConfig    = "SW_CONFIG"
	StreamDecisions = "SW_DECISIONS"
	StreamReports   = "SW_REPORTS"
	StreamReceipts  = "SW_RECEIPTS"
	StreamDead      = "SW_DEAD"
	StreamStatus    = "SW_STATUS"
)

// Stream declares one stream of the bus, independent of who stores it.
type Stream struct {
	Name        string
	Description string
	Subjects    []string
	// PerSubject is how many events of a subject are kept, 0 for all.
	PerSubject int64
	// MaxAge is how long an event is kept, 0 for ever.
	MaxAge time.Duration
	// MaxBytes bounds the whole stream.
	MaxBytes int64
	// RefuseWhenFull refuses new events once MaxBytes is reached, instead of
	// dropping the oldest.
	RefuseWhenFull bool
	// Ingest marks a stream that spokes and outside publishers write to: no
	// rollup, no per-message TTL, no direct gets (their answers can be forged
	// by headers).
	Ingest bool
}

const (
	mebibyte = 1 << 20
	day      = 24 * time.Hour
)

// DedupeWindow is for how long a stream remembers the ids it has stored.
// Longer is dear: 2 minutes cost 236 MiB at 10,000 events a second.
const DedupeWindow = 10 * time.Second

// Streams returns the declaration of every stream. This is the one place
// where they are declared.
func Streams() []Stream {
	return []Stream{
		{
			Name: StreamMetrics, Description: "Current samples of every source of every cluster.",
			Subjects: []string{"sw.metric.*.*"}, PerSubject: 64, MaxAge: day, MaxBytes: 4096 * mebibyte, Ingest: true,
		},
		{
			Name: StreamBackfill, Description: "Snapshots that waited in an outbox: history, never current state.",
			Subjects: []string{"sw.backfill.*.*"}, MaxAge: 7 * day, MaxBytes: 4096 * mebibyte, RefuseWhenFull: true, Ingest: true,
		},
		{
			Name: StreamScores, Description: "Scores of every cluster by every scorer.",
			Subjects: []string{"sw.score.*.*"}, PerSubject: 64, MaxBytes: 4096 * mebibyte,
		},
		{
			Name: StreamHub, Description: "What the bridge observed on the hub.",
			Subjects: []string{"sw.hub.*.*.*"}, PerSubject: 64, MaxBytes: 2048 * mebibyte,
		},
		{
			Name: StreamConfig, Description: "What users ask for over the bus.",
			Subjects: []string{"sw.config.*.*.*"}, PerSubject: 64, MaxBytes: 256 * mebibyte,
		},
		{
			Name: StreamDecisions, Description: "Decisions, each the whole desired state of its object.",
			Subjects: []string{"sw.decision.*.*.*"}, PerSubject: 32, MaxBytes: 2048 * mebibyte,
		},
		{
			Name: StreamReceipts, Description: "What the bridge applied or refused.",
			Subjects: []string{"sw.receipt.*.*.*"}, PerSubject: 16, MaxAge: 7 * day, MaxBytes: 512 * mebibyte,
		},
		{
			Name: StreamStatus, Description: "How what services work for fares, and which replica works for it.",
			Subjects: []string{"sw.status.*.*.*"}, PerSubject: 16, MaxBytes: 256 * mebibyte,
		},
		{
			Name: StreamDead, Description: "Messages that no retry will mend, with the reason.",
			Subjects: []string{"sw.dead.*.*"}, MaxAge: 30 * day, MaxBytes: 256 * mebibyte,
		},
	}
}

// PerSubject is how many events of a subject one of Streams keeps, 0 for all,
// and of a stream that is none of them.
func PerSubject(stream string) int64 {
	for _, s := range Streams() {
		if s.Name == stream {
			return s.PerSubject
		}
	}
	return 0
}
