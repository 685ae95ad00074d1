package events

// Mirror declares a copy of a stream in another account, for those who may
// read but shall not reach the account of the original.
type Mirror struct {
	// Stream is the declaration of the original. The mirror has its name and
	// its limits, and no subjects.
	Stream Stream
	// APIPrefix is where the mirror's account finds the JetStream API of the
	// original's, and DeliverPrefix is the subject that it imports from there.
	APIPrefix, DeliverPrefix string
}
