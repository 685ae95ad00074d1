package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rows [][]string
		want string
	}{
		"only the header": {
			want: "NAME   VALUE\n",
		},
		"columns are aligned, the last one is not padded": {
			rows: [][]string{{"spoke-1", "3"}, {"a", "a long value"}},
			want: "NAME      VALUE\nspoke-1   3\na         a long value\n",
		},
		"empty and missing cells": {
			rows: [][]string{{"", "3"}, {"a"}},
			want: "NAME   VALUE\n-      3\na      -\n",
		},
		"characters count, not bytes": {
			rows: [][]string{{"größe", "3"}, {"groess", "4"}},
			want: "NAME     VALUE\ngröße    3\ngroess   4\n",
		},
		"a cell cannot break its row or steer the terminal": {
			rows: [][]string{{"a\nb\x1b[2J", "3"}},
			want: "NAME      VALUE\na b\ufffd[2J   3\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			table := New(&out, "NAME", "VALUE")
			for _, row := range tt.rows {
				table.Add(row...)
			}
			if err := table.Flush(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestRowsAfterAFlushKeepTheWidths(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	table := New(&out, "NAME", "VALUE")
	for _, name := range []string{"spoke-1", "a", "a-much-longer-name", "b"} {
		table.Add(name, "1")
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	want := "NAME      VALUE\nspoke-1   1\na         1\na-much-longer-name   1\nb                    1\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
