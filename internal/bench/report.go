package bench

import (
	"fmt"
	"strings"
	"time"
)

const preamble = `<!-- Made by "spokewire bench report bench/results > docs/benchmarks.md". Do not edit. -->
# Benchmarks

Every number here comes from the files in [bench/results](../bench/results),
which hold all samples; ` + "`make bench`" + ` measures anew. Each run uses real
parts, every one a process of its own on one machine: NATS, kube-apiserver and
etcd, the services, and OCM's placement controller where it is compared. What is
compared is measured in one run, one after the other, never at the same time.
Ratios are those of medians. Where the name says nothing else, % is of one core.

`

// Named is a result with the name of its file.
type Named struct {
	Name   string
	Result Result
}

// Render writes the document of results, in the given order.
func Render(results []Named) string {
	var b strings.Builder
	b.WriteString(preamble)
	b.WriteString(renderMachines(results))
	tables := map[string]bool{}
	for _, n := range results {
		if c := n.Result.Comparison; c != nil && !tables[c.Title] {
			tables[c.Title] = true
			renderComparison(&b, c.Title, results)
		}
		renderResult(&b, n)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// renderComparison writes the table of the results of that title.
func renderComparison(b *strings.Builder, title string, results []Named) {
	fmt.Fprintf(b, "## %s\n\nMedians; the runs follow.\n\n", title)
	headed := false
	for _, n := range results {
		c := n.Result.Comparison
		if c == nil || c.Title != title {
			continue
		}
		if !headed {
			headed = true
			heads := make([]string, len(c.Columns))
			for i, column := range c.Columns {
				heads[i] = column.Title
			}
			fmt.Fprintf(b, "| | %s |\n|---|%s\n", strings.Join(heads, " | "), strings.Repeat("--:|", len(heads)))
		}
		cells := make([]string, len(c.Columns))
		for i, column := range c.Columns {
			cells[i] = n.Result.median(column.Measure)
		}
		fmt.Fprintf(b, "| %s | %s |\n", c.Row, strings.Join(cells, " | "))
	}
	b.WriteString("\n")
}

// median is that of a measure with its unit, "-" where there is none.
func (r *Result) median(measure string) string {
	for i := range r.Measures {
		if m := &r.Measures[i]; m.Name == measure && len(m.Samples) > 0 {
			return strings.TrimSpace(format(Median(m.Samples)) + " " + m.Unit)
		}
	}
	return "-"
}

// renderMachines describes each machine once.
func renderMachines(results []Named) string {
	var b strings.Builder
	b.WriteString("Measured on:\n\n")
	seen := map[string]bool{}
	for _, n := range results {
		line := "- " + n.Result.Machine.String() + "\n"
		if !seen[line] {
			seen[line] = true
			b.WriteString(line)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// String describes the machine, but not its load.
func (m Machine) String() string {
	text := fmt.Sprintf("%d cores", m.Cores)
	if m.CPU != "" {
		text += " (" + m.CPU + ")"
	}
	return text + fmt.Sprintf(", %.1f GiB of memory, Linux %s, %s", float64(m.Memory)/(1<<30), m.Kernel, m.Go)
}

func renderResult(b *strings.Builder, n Named) {
	r := n.Result
	fmt.Fprintf(b, "## %s\n\n", r.Title)
	for _, line := range r.About {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(b, "\n| | unit | n | median | min | p90 | max | target | |\n|---|---|--:|--:|--:|--:|--:|--:|---|\n")
	for i := range r.Measures {
		fmt.Fprintf(b, "| %s |\n", strings.Join(r.Measures[i].Cells(), " | "))
	}
	if r.Summary != "" {
		fmt.Fprintf(b, "\n`%s`\n", r.Summary)
	}
	fmt.Fprintf(b, "\n`%s`, %s, load before %s, [%s](../bench/results/%s)\n\n",
		r.Command, r.Date.UTC().Format(time.DateTime), format(r.Machine.Load), n.Name, n.Name)
}

// Columns are the titles of Cells.
func Columns() []string {
	return []string{"MEASURE", "UNIT", "N", "MEDIAN", "MIN", "P90", "MAX", "TARGET", "VERDICT"}
}

// Cells are a measure as a row of a table.
func (m *Measure) Cells() []string {
	s := Summarise(m.Samples)
	return []string{
		m.Name, m.Unit, fmt.Sprint(s.N), format(s.P50), format(s.Min), format(s.P90), format(s.Max), m.Target.String(), m.Verdict(),
	}
}
