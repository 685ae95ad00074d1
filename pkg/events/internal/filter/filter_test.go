package filter

import "testing"

func TestMatchAndOverlap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		filter, other string
		wantMatch     bool // other is a subject
		wantOverlap   bool
	}{
		"the same":                 {"sw.a.b", "sw.a.b", true, true},
		"one differs":              {"sw.a.b", "sw.a.c", false, false},
		"shorter":                  {"sw.a", "sw.a.b", false, false},
		"longer":                   {"sw.a.b.c", "sw.a.b", false, false},
		"star":                     {"sw.*.b", "sw.a.b", true, true},
		"star is one token":        {"sw.*", "sw.a.b", false, false},
		"rest":                     {"sw.>", "sw.a.b", true, true},
		"rest needs one":           {"sw.a.b.>", "sw.a.b", false, false},
		"all":                      {">", "sw", true, true},
		"a prefix is no match":     {"sw.ab", "sw.a", false, false},
		"stars that cross":         {"sw.*.b", "sw.a.*", false, true},
		"stars that do not":        {"sw.*.b", "sw.*.c", false, false},
		"rest against a long name": {"sw.a.>", "sw.a.b.c.d", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if CheckSubject(test.other) == nil {
				if got := Match(test.filter, test.other); got != test.wantMatch {
					t.Errorf("Match(%q, %q) = %v, want %v", test.filter, test.other, got, test.wantMatch)
				}
			}
			for _, pair := range [][2]string{{test.filter, test.other}, {test.other, test.filter}} {
				if got := Overlap(pair[0], pair[1]); got != test.wantOverlap {
					t.Errorf("Overlap(%q, %q) = %v, want %v", pair[0], pair[1], got, test.wantOverlap)
				}
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text                    string
		wantFilter, wantSubject bool // is accepted as
	}{
		"plain":             {"sw.metric.a.b", true, true},
		"star":              {"sw.*.b", true, false},
		"rest":              {"sw.>", true, false},
		"rest in between":   {"sw.>.b", false, false},
		"star in a token":   {"sw.a*", true, true},
		"empty":             {"", false, false},
		"empty token":       {"sw..b", false, false},
		"dot last":          {"sw.", false, false},
		"space":             {"sw. b", false, false},
		"newline":           {"sw.a\nb", false, false},
		"zero byte":         {"sw.\x00", false, false},
		"a letter with dot": {"sw.é", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Check(test.text); (err == nil) != test.wantFilter {
				t.Errorf("Check(%q) = %v, want accepted = %v", test.text, err, test.wantFilter)
			}
			if err := CheckSubject(test.text); (err == nil) != test.wantSubject {
				t.Errorf("CheckSubject(%q) = %v, want accepted = %v", test.text, err, test.wantSubject)
			}
		})
	}
}
