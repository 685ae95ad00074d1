package jetstream

import "testing"

func TestSnapshotIsComplete(t *testing.T) {
	t.Parallel()
	type message struct{ sequence, pending uint64 }
	for name, tc := range map[string]struct {
		begin snapshot
		came  []message
		want  bool
	}{
		"nothing is stored":             {snapshot{}, nil, true},
		"some are left":                 {snapshot{left: 2}, []message{{1, 1}}, false},
		"all came":                      {snapshot{left: 2}, []message{{1, 1}, {2, 0}}, true},
		"the rest was removed":          {snapshot{left: 3}, []message{{1, 0}}, true},
		"the server is behind":          {snapshot{left: 1, target: 3}, []message{{2, 0}}, false},
		"it has nothing at all yet":     {snapshot{target: 3}, nil, false},
		"it has caught up":              {snapshot{left: 1, target: 3}, []message{{2, 0}, {3, 0}}, true},
		"it has caught up, and goes on": {snapshot{left: 1, target: 3}, []message{{2, 0}, {3, 7}, {4, 6}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tc.begin
			for _, m := range tc.came {
				s.take(m.sequence, m.pending)
			}
			if s.complete() != tc.want {
				t.Errorf("complete = %v, %+v", s.complete(), s)
			}
		})
	}
}
