// Package table writes aligned columns for people.
package table

import (
	"io"
	"strings"
	"unicode/utf8"
)

// gap separates two columns.
const gap = "   "

// Table writes rows in aligned columns. Rows that are added before the first
// Flush share their widths with the header; later ones, where a table follows
// a stream, widen their columns only where they must. The zero value is not
// usable; call New.
type Table struct {
	out     io.Writer
	widths  []int
	pending [][]string
}

// New returns a table with these column titles. Nothing is written until
// Flush.
func New(out io.Writer, columns ...string) *Table {
	t := &Table{out: out, widths: make([]int, len(columns))}
	t.Add(columns...)
	return t
}

// Add adds a row. An empty cell is shown as "-", so that the columns of a
// row can be told apart by programs too. Cells are kept to one line.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(t.widths))
	for i := range row {
		cell := "-"
		if i < len(cells) && cells[i] != "" {
			cell = OneLine(cells[i])
		}
		row[i] = cell
		t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
	}
	t.pending = append(t.pending, row)
}

// Flush writes the rows that were added since the last Flush.
func (t *Table) Flush() error {
	var b strings.Builder
	for _, row := range t.pending {
		t.format(&b, row)
	}
	t.pending = t.pending[:0]
	_, err := io.WriteString(t.out, b.String())
	return err
}

func (t *Table) format(b *strings.Builder, row []string) {
	last := len(row) - 1
	for i, cell := range row {
		b.WriteString(cell)
		if i < last {
			b.WriteString(strings.Repeat(" ", t.widths[i]-utf8.RuneCountInString(cell)))
			b.WriteString(gap)
		}
	}
	b.WriteByte('\n')
}

// OneLine replaces what would break the row, or steer a terminal: cells hold
// text that anyone may have published.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return utf8.RuneError
		}
		return r
	}, s)
}
