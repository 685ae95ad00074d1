package placement

import "slices"

// Agreement says how far two schedulers select the same clusters. Its names
// are sorted.
type Agreement struct {
	Both          []string `json:"both"`
	OnlyOCM       []string `json:"onlyOCM"`
	OnlySpokewire []string `json:"onlySpokewire"`
}

// Agree compares what OCM selects with what we do. Neither names a cluster
// twice.
func Agree(ocm, ours []string) Agreement {
	a := Agreement{Both: []string{}, OnlyOCM: []string{}, OnlySpokewire: []string{}}
	theirs := make(map[string]bool, len(ocm))
	for _, name := range ocm {
		theirs[name] = true
	}
	for _, name := range ours {
		if theirs[name] {
			a.Both = append(a.Both, name)
			delete(theirs, name)
		} else {
			a.OnlySpokewire = append(a.OnlySpokewire, name)
		}
	}
	for name := range theirs {
		a.OnlyOCM = append(a.OnlyOCM, name)
	}
	slices.Sort(a.Both)
	slices.Sort(a.OnlyOCM)
	slices.Sort(a.OnlySpokewire)
	return a
}

// Full reports whether both select the same.
func (a Agreement) Full() bool { return len(a.OnlyOCM)+len(a.OnlySpokewire) == 0 }
