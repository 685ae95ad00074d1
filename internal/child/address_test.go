package child

import "testing"

// TestAnAddressIsGivenOnce: also while nobody listens there yet.
func TestAnAddressIsGivenOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 2000 {
		address, err := FreeAddress(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if seen[address] {
			t.Fatalf("%s is given twice", address)
		}
		seen[address] = true
	}
}
