package schemas

import "fmt"

// MaxDropped is how many dead letters one event drops at most.
const MaxDropped = 1000

// DeadDropped says of dead letters that somebody dealt with them: they count
// no longer. It covers those that were stored before it.
type DeadDropped struct {
	Letters []DroppedLetter `json:"letters"`
}

// DroppedLetter names a dead letter: who refused a message, and where the
// message stood.
type DroppedLetter struct {
	Service  string `json:"service"`
	Stream   string `json:"stream"`
	Sequence uint64 `json:"sequence"`
}

// Validate checks that each letter is named.
func (d *DeadDropped) Validate() error {
	switch {
	case len(d.Letters) == 0:
		return fieldErrorf("letters", "is empty")
	case len(d.Letters) > MaxDropped:
		return fieldErrorf("letters", "has %d letters, at most %d are taken", len(d.Letters), MaxDropped)
	}
	for i, l := range d.Letters {
		at := fmt.Sprintf("letters[%d].", i)
		if err := required(at+"service", l.Service, at+"stream", l.Stream); err != nil {
			return err
		}
	}
	return nil
}
