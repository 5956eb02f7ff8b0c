package jslib

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// maxTableRows bounds a table; what is longer is printed like any other value.
const maxTableRows = 1000

// tableData is the columns of a table, in the order they were met.
type tableData struct {
	heads []string
	cells map[string][]string
	rows  int
}

func newTable(heads ...string) *tableData {
	return &tableData{heads: heads, cells: map[string][]string{}}
}

func (t *tableData) set(head string, row int, cell string) {
	if _, ok := t.cells[head]; !ok {
		t.heads = append(t.heads, head)
	}
	t.fill(head, row, cell)
}

func (t *tableData) fill(head string, row int, cell string) {
	column := t.cells[head]
	for len(column) <= row {
		column = append(column, "")
	}
	column[row] = cell
	t.cells[head] = column
	t.rows = max(t.rows, row+1)
}

// table is console.table: an array or object of rows as a grid.
func (c *console) table(args []goja.Value) {
	if len(args) == 0 {
		c.print("log", args)
		return
	}
	o, ok := args[0].(*goja.Object)
	if !ok || isProxy(o) || strings.HasSuffix(o.ClassName(), "Function") {
		c.print("log", args[:1])
		return
	}
	var only []string
	if len(args) > 1 {
		only = c.strings(args[1])
	}
	t := c.tableOf(o, only)
	if t == nil || t.rows > maxTableRows {
		c.print("log", args[:1])
		return
	}
	c.write("log", cut(t.draw(), c.lib.host.MaxConsoleBytes))
}

func (c *console) strings(v goja.Value) []string {
	if !isArray(v) {
		return nil
	}
	o := v.(*goja.Object)
	names := []string{}
	for i := range min(int(o.Get("length").ToInteger()), maxTableRows) {
		if s, ok := c.lib.inspector.data(o, strconv.Itoa(i)).(goja.String); ok {
			names = append(names, s.String())
		}
	}
	return names
}

const (
	tableIndex = "(index)"
	tableIter  = "(iteration index)"
	tableKey   = "Key"
	tableValue = "Values"
)

func (c *console) tableOf(o *goja.Object, only []string) *tableData {
	switch {
	case o.ExportType() == exportsMap && o.ClassName() == "Object":
		t := newTable(tableIter, tableKey, tableValue)
		pairs := c.lib.inspector.mapEntries(o)
		for i := 0; i+1 < len(pairs) && i/2 <= maxTableRows; i += 2 {
			t.fill(tableIter, i/2, strconv.Itoa(i/2))
			t.fill(tableKey, i/2, c.cell(pairs[i]))
			t.fill(tableValue, i/2, c.cell(pairs[i+1]))
		}
		return t
	case o.ExportType() == exportsSet && o.ClassName() == "Object":
		t := newTable(tableIter, tableValue)
		for i, v := range setValues(c.lib.vm, o) {
			if i > maxTableRows {
				break
			}
			t.fill(tableIter, i, strconv.Itoa(i))
			t.fill(tableValue, i, c.cell(v))
		}
		return t
	}
	return c.rows(o, only)
}

func (c *console) rows(o *goja.Object, only []string) *tableData {
	in := c.lib.inspector
	t := newTable()
	var values []string
	keys := o.Keys()
	if len(keys) > maxTableRows {
		return nil
	}
	hasValues := false
	for row, key := range keys {
		t.rows = row + 1
		values = append(values, "")
		item := in.data(o, key)
		inner, isObject := item.(*goja.Object)
		if !isObject && only == nil {
			hasValues = true
			values[row] = c.cell(item)
			continue
		}
		names := only
		if names == nil {
			names = inner.Keys()
		}
		for _, name := range names {
			if len(t.heads) >= maxInspectKeys {
				break
			}
			cell := ""
			if isObject {
				if p, ok := in.own(inner, name); ok {
					cell = c.cell(p.value)
				}
			}
			t.set(name, row, cell)
		}
	}
	if hasValues {
		t.heads = append(t.heads, tableValue)
		for row, v := range values {
			t.fill(tableValue, row, v)
		}
	}
	t.heads = append([]string{tableIndex}, t.heads...)
	for row, key := range keys {
		t.fill(tableIndex, row, key)
	}
	return t
}

// cell shows a value without its inner objects, on one line.
func (c *console) cell(v goja.Value) string {
	if v == nil {
		return "undefined"
	}
	depth := -1
	if o, ok := v.(*goja.Object); ok && !isProxy(o) && (o.ClassName() == "Array" || len(o.Keys()) <= 2) {
		depth = 0
	}
	o := InspectOptions{Array: 3, Break: 1 << 30, MaxBytes: 10_000, Depth: depth}
	if depth == 0 {
		o.Depth = depthZero
	}
	return c.lib.inspector.inspect(v, o)
}

func (t *tableData) draw() string {
	widths := make([]int, len(t.heads))
	for i, head := range t.heads {
		widths[i] = columns(head)
		for _, cell := range t.cells[head] {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	rule := func(left, middle, right string) string {
		parts := make([]string, len(widths))
		for i, w := range widths {
			parts[i] = strings.Repeat("─", w+2)
		}
		return left + strings.Join(parts, middle) + right
	}
	line := func(cell func(head string) string) string {
		parts := make([]string, len(widths))
		for i, head := range t.heads {
			text := cell(head)
			parts[i] = text + strings.Repeat(" ", widths[i]-columns(text))
		}
		return "│ " + strings.Join(parts, " │ ") + " │"
	}
	lines := []string{rule("┌", "┬", "┐"), line(func(head string) string { return head }), rule("├", "┼", "┤")}
	for row := range t.rows {
		lines = append(lines, line(func(head string) string {
			if column := t.cells[head]; row < len(column) {
				return column[row]
			}
			return ""
		}))
	}
	return strings.Join(append(lines, rule("└", "┴", "┘")), "\n")
}
