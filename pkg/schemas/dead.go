package schemas

import "time"

// MaxDeadBody is how many bytes of a dead message's body are kept.
const MaxDeadBody = 64 << 10

// DeadLetter keeps a message that no retry will mend, and says why.
type DeadLetter struct {
	Service string `json:"service"`
	// Stream, Subject and Sequence say where the message stood.
	Stream   string `json:"stream"`
	Subject  string `json:"subject"`
	Sequence uint64 `json:"sequence"`
	// Reason is a CamelCase class; Field is the field that is refused, where
	// one is; Message says what is wrong and what to do.
	Reason  string `json:"reason"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	// Headers are those of the message, without credentials.
	Headers map[string]string `json:"headers,omitempty"`
	// Body is its first MaxDeadBody bytes (base64 in JSON), Size its whole
	// length, SHA256 the digest of the whole in hex.
	Body       []byte    `json:"body,omitempty"`
	Size       int       `json:"size"`
	SHA256     string    `json:"sha256"`
	ReceivedAt time.Time `json:"receivedAt"`
}

// Validate checks the frame.
func (d *DeadLetter) Validate() error {
	if len(d.Body) > MaxDeadBody {
		return fieldErrorf("body", "has %d bytes, at most %d are kept", len(d.Body), MaxDeadBody)
	}
	return required("service", d.Service, "subject", d.Subject, "reason", d.Reason, "message", d.Message)
}
