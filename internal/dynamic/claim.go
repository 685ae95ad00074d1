package dynamic

import (
	"cmp"
	"slices"
)

// Claim is one scorer's claim to the name of its scores.
type Claim struct {
	// Key tells the scorers apart.
	Key string
	// Name is what it wants, Had what it had last.
	Name, Had string
}

// Owners returns who has which name, by name. One that had it keeps it; of
// several others the first by key gets it. taken are names that other kinds
// of scorers have.
func Owners(claims []Claim, taken func(name string) bool) map[string]string {
	claims = slices.Clone(claims)
	slices.SortFunc(claims, func(a, b Claim) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Key, b.Key))
	})
	owners := map[string]string{}
	for _, c := range claims {
		if _, has := owners[c.Name]; !has && c.Name != "" && !taken(c.Name) {
			owners[c.Name] = c.Key
		}
	}
	return owners
}

func rank(c Claim) int {
	if c.Name == c.Had {
		return 0
	}
	return 1
}

// Masks are the clusters that get no score of a name.
type Masks map[Mask]struct{}

// Mask is a cluster and a score's name, as its author writes it.
type Mask struct{ Cluster, ScoreName string }

// Has reports whether the cluster gets no score of that name. The name counts
// as it is written and as the hub's objects have it.
func (m Masks) Has(cluster string, s *Scorer) bool {
	if _, masked := m[Mask{cluster, s.ScoreName}]; masked {
		return true
	}
	_, masked := m[Mask{cluster, s.Name}]
	return masked
}
