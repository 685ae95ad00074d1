package placement

// bits is a set of cluster numbers.
type bits []uint64

// set makes it the set of ids.
func (b *bits) set(ids []int32) {
	clear(*b)
	for _, id := range ids {
		for int(id>>6) >= len(*b) {
			*b = append(*b, 0)
		}
		(*b)[id>>6] |= 1 << (id & 63)
	}
}

func (b bits) has(id int32) bool {
	return int(id>>6) < len(b) && b[id>>6]&(1<<(id&63)) != 0
}
