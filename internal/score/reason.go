package score

import "github.com/spokewire/spokewire/pkg/schemas"

// Reasons of an item without a value, beside those in package schemas.
const (
	NoLabel = "NoLabel" // the cluster lacks a label that label() names
	NoClaim = "NoClaim" // the cluster lacks a claim that claim() names
)

// problem is an error inside an expression that has a reason of its own.
type problem struct {
	reason, message string
}

func (p *problem) Error() string { return p.message }

// maxMessage bounds the message of an item, in bytes.
const maxMessage = 512

func shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	// Cut at a rune: the message goes into JSON.
	cut := maxMessage
	for cut > 0 && message[cut]&0xC0 == 0x80 {
		cut--
	}
	return message[:cut] + "…"
}

func failed(message string) *problem {
	return &problem{reason: schemas.ScoreFailed, message: shorten(message)}
}
