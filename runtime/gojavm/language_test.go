package gojavm_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
)

var update = flag.Bool("update", false, "rewrite the golden files; those about the language ask node")

// languageRow is a program, what Node makes of it, and what is made of it here.
type languageRow struct {
	name, code string
	node       string // JSON text, or "throws " and the error
	here       string // empty: as Node
	why        string // they differ
}

// TestLanguage compares what programs give with what Node 20 gave. Each file has
// a row for each feature, with both outcomes side by side where they differ, and
// the reason.
func TestLanguage(t *testing.T) {
	for file, least := range map[string]int{"testdata/language.txt": 200, "testdata/asynciteration.txt": 80} {
		t.Run(file, func(t *testing.T) {
			rows := readLanguage(t, file)
			if len(rows) < least {
				t.Errorf("%d rows, want at least %d", len(rows), least)
			}
			rt := newRuntime(t)
			if *update {
				updateLanguage(t, rt, file, rows)
			}
			for _, row := range rows {
				t.Run(row.name, func(t *testing.T) {
					want := row.here
					if want == "" {
						want = row.node
					}
					if got := outcome(t, rt, row.code); got != want {
						t.Errorf("%s\n gives %s\nwant   %s", row.code, got, want)
					}
					if row.why == "" && row.differs() {
						t.Errorf("it differs from Node without a reason: %s, Node %s", row.here, row.node)
					}
					if row.why != "" && row.here == "" {
						t.Error("it is as on Node; the reason is out of date")
					}
				})
			}
		})
	}
}

// differs says whether the outcome is another, and not only the text of the same
// error.
func (r languageRow) differs() bool {
	kind := regexp.MustCompile(`^throws \w+`)
	return r.here != "" && (kind.FindString(r.node) == "" || kind.FindString(r.node) != kind.FindString(r.here))
}

// outcome is what a program gives, in the form of the files.
func outcome(t *testing.T, rt *gojavm.Runtime, code string) string {
	t.Helper()
	res, err := rt.Run(t.Context(), runtime.Request{Program: code})
	switch {
	case err != nil:
		t.Fatal(err)
	case res.Failure != nil:
		return "throws " + res.Failure.Message
	case res.Value == "":
		return "undefined"
	}
	return res.Value
}

// readLanguage reads rows:
//
//	== name
//	program
//	-- node
//	outcome
//	-- here
//	outcome
//	-- why
//	reason
func readLanguage(t *testing.T, file string) []languageRow {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []languageRow
	for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
		var row languageRow
		row.name, part, _ = strings.Cut(part, "\n")
		field := &row.code
		for line := range strings.Lines(part) {
			switch line {
			case "-- node\n":
				field = &row.node
			case "-- here\n":
				field = &row.here
			case "-- why\n":
				field = &row.why
			default:
				*field += line
			}
		}
		for _, field := range []*string{&row.code, &row.node, &row.here, &row.why} {
			*field = strings.TrimSuffix(*field, "\n")
		}
		rows = append(rows, row)
	}
	return rows
}

// updateLanguage asks Node and this runtime, and writes the file.
func updateLanguage(t *testing.T, rt *gojavm.Runtime, file string, rows []languageRow) {
	t.Helper()
	var programs []string
	for _, row := range rows {
		programs = append(programs, row.code)
	}
	outcomes := askNode(t, programs)
	var b strings.Builder
	for i := range rows {
		row := &rows[i]
		row.node, row.here = outcomes[i], outcome(t, rt, row.code)
		if row.here == row.node {
			row.here = ""
		}
		fmt.Fprintf(&b, "== %s\n%s\n-- node\n%s\n", row.name, row.code, row.node)
		if row.here != "" {
			fmt.Fprintf(&b, "-- here\n%s\n", row.here)
		}
		if row.why != "" {
			fmt.Fprintf(&b, "-- why\n%s\n", row.why)
		}
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// askNode is what programs give on Node.
func askNode(t *testing.T, programs []string) (outcomes []string) {
	t.Helper()
	var scripts []string
	for _, program := range programs {
		scripts = append(scripts, forNode(program))
	}
	given, err := json.Marshal(scripts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/language.mjs")
	cmd.Stdin = bytes.NewReader(given)
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	if err := json.Unmarshal(answer, &outcomes); err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// forNode is a program as JavaScript that Node 20 knows.
func forNode(code string) string {
	res := api.Transform("(async () => {"+code+"\n})()", api.TransformOptions{
		Loader:      api.LoaderTS,
		Target:      api.ESNext,
		Supported:   map[string]bool{"decorators": false, "using": false},
		TsconfigRaw: `{"compilerOptions":{"target":"esnext","useDefineForClassFields":true}}`,
	})
	if len(res.Errors) > 0 {
		return fmt.Sprintf("throw %q", "it does not compile: "+res.Errors[0].Text)
	}
	return string(res.Code)
}
