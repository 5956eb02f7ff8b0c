package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
)

// TestScripts drives the command as a user does. A script says with its own
// commands, defined below, what has to hold.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: scriptCommands, Setup: ownHome, RequireExplicitExec: true, RequireUniqueNames: true})
}

// ownHome gives a script a home of its own, where the command looks for
// settings and keeps what is trusted.
func ownHome(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".tmp", "home")
	env.Setenv("HOME", home)
	env.Setenv("USERPROFILE", home)
	env.Setenv("AppData", filepath.Join(home, ".config"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	traces, err := filepath.Abs("../../testdata/traces")
	if err != nil {
		return err
	}
	env.Setenv("TRACES", traces) // sample logs
	return os.MkdirAll(home, 0o700)
}

// TestScriptsEitherWay runs scripts that must not notice where programs run.
func TestScriptsEitherWay(t *testing.T) {
	for _, isolation := range []string{"worker", "in-process"} {
		t.Run(isolation, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir:                 "testdata/script/both",
				Cmds:                scriptCommands,
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				Setup: func(env *testscript.Env) error {
					env.Setenv("ISOLATION", isolation)
					return ownHome(env)
				},
			})
		})
	}
}

var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	// exits CODE COMMAND ARGS... runs a command that must exit with CODE.
	"exits": func(ts *testscript.TestScript, _ bool, args []string) {
		exits(ts, args[0], args[1], args[2:]...)
	},
	// run CODE ARGS... is exits with runcode run, under the isolation of the
	// test.
	"run": func(ts *testscript.TestScript, _ bool, args []string) {
		all := []string{"run"}
		if ts.Getenv("ISOLATION") == "in-process" {
			all = append(all, "--in-process")
		}
		exits(ts, args[0], "runcode", append(all, args[1:]...)...)
	},
	// prints FILE: the last standard output is exactly the file.
	"prints": func(ts *testscript.TestScript, _ bool, args []string) {
		if diff := cmp.Diff(ts.ReadFile(args[0]), ts.ReadFile("stdout")); diff != "" {
			ts.Fatalf("standard output differs (-want +got):\n%s", diff)
		}
	},
	// says LINE...: the last standard error is exactly these lines, with the
	// durations of the summary as <t>.
	"says": func(ts *testscript.TestScript, _ bool, args []string) {
		want := strings.Join(args, "\n")
		got := strings.TrimSuffix(summary.ReplaceAllStringFunc(weaker.ReplaceAllString(ts.ReadFile("stderr"), ""), withoutDurations), "\n")
		if diff := cmp.Diff(want, got); diff != "" {
			ts.Fatalf("standard error differs (-want +got):\n%s", diff)
		}
	},
	// printsjson FILE: the last standard output is one line of JSON that says
	// the same as the file, with times as 0 and the run's id as RUN.
	"printsjson": func(ts *testscript.TestScript, _ bool, args []string) {
		text := ts.ReadFile("stdout")
		if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
			ts.Fatalf("standard output is not one line: %q", text)
		}
		text = lacking.ReplaceAllString(text, "")
		text = randomID.ReplaceAllString(millis.ReplaceAllString(text, `${1}0`), "RUN:code:")
		text = strings.ReplaceAll(text, `"isolation":"`+ts.Getenv("ISOLATION")+`"`, `"isolation":"ISOLATION"`)
		if diff := cmp.Diff(decode(ts, ts.ReadFile(args[0])), decode(ts, text)); diff != "" {
			ts.Fatalf("the JSON differs (-want +got):\n%s\n%s", diff, text)
		}
	},
	// fails KIND LINE TEXT: the last standard output, of --json, is a failure of
	// that kind at that line (0: none, -: any) whose message holds the text.
	"fails": func(ts *testscript.TestScript, _ bool, args []string) {
		var got struct {
			IsError bool
			Error   printedError
		}
		if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &got); err != nil {
			ts.Fatalf("standard output is not JSON: %v", err)
		}
		line := got.Error.Line
		if args[1] != "-" {
			var err error
			line, err = strconv.Atoi(args[1])
			ts.Check(err)
		}
		if !got.IsError || got.Error.Kind != args[0] || got.Error.Line != line || !strings.Contains(got.Error.Message, args[2]) {
			ts.Fatalf("got failure %v of kind %q at line %d: %.200q, want kind %q at line %d with %q", got.IsError, got.Error.Kind, got.Error.Line, got.Error.Message, args[0], line, args[2])
		}
	},
	// repeat FILE N TEXT MIDDLE END writes TEXT N times, MIDDLE, END N times.
	"repeat": func(ts *testscript.TestScript, _ bool, args []string) {
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		text := strings.Repeat(args[2], n) + args[3] + strings.Repeat(args[4], n)
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
	},
	// perm MODE FILE: the file has these permissions.
	"perm": func(ts *testscript.TestScript, _ bool, args []string) {
		info, err := os.Stat(ts.MkAbs(args[1]))
		ts.Check(err)
		if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[0] {
			ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
		}
	},
	// holds DIR NAME...: the directory holds exactly these files.
	"holds": func(ts *testscript.TestScript, _ bool, args []string) {
		entries, err := os.ReadDir(ts.MkAbs(args[0]))
		ts.Check(err)
		got := []string{}
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if diff := cmp.Diff(append([]string{}, args[1:]...), got); diff != "" {
			ts.Fatalf("%s holds other files (-want +got):\n%s", args[0], diff)
		}
	},
	// events FILE TYPE...: the log is readable, its events have these types in
	// this order, and every call that began has settled.
	"events": func(ts *testscript.TestScript, _ bool, args []string) {
		checkEvents(ts, args[0], args[1:])
	},
}

var (
	summary   = regexp.MustCompile(`(?m)^runcode: (ok|failed), .*`)
	weaker    = regexp.MustCompile(`(?m)^note: worker processes run without .*\r?\n`) // on other systems, and with the race detector
	lacking   = regexp.MustCompile(`"missingLayers": ?\[[^]]*\],?\s*`)                // the same in JSON
	durations = regexp.MustCompile(`\b\d+(\.\d+)?(µs|ms|s)\b`)
	millis    = regexp.MustCompile(`("(?:wallMs|computeMs|ms)":)[0-9.e-]+`)
	randomID  = regexp.MustCompile(`\b[A-Z2-7]{26}:code:`)
)

func withoutDurations(line string) string { return durations.ReplaceAllString(line, "<t>") }

func exits(ts *testscript.TestScript, code, command string, args ...string) {
	want, err := strconv.Atoi(code)
	ts.Check(err)
	err = ts.Exec(command, args...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func decode(ts *testscript.TestScript, text string) (v any) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		ts.Fatalf("not JSON: %v\n%s", err, text)
	}
	return v
}

func checkEvents(ts *testscript.TestScript, file string, want []string) {
	log, err := os.Open(ts.MkAbs(file))
	ts.Check(err)
	defer log.Close()
	found, err := eventlog.Read(log, nil)
	ts.Check(err)
	types := []string{}
	var open []string
	for i, e := range found.Events {
		if e.Seq != uint64(i) {
			ts.Fatalf("event %d has the number %d", i, e.Seq)
		}
		types = append(types, e.Type)
		var data struct {
			CallID, SubCallID string
			Message           struct{ Source struct{ CallID string } }
		}
		ts.Check(json.Unmarshal(e.Data.Bytes(), &data))
		id := data.CallID + data.SubCallID + data.Message.Source.CallID
		switch e.Type {
		case pipeline.EventToolCall, pipeline.EventCodeDispatchStart:
			open = append(open, id)
		case pipeline.EventToolResult, pipeline.EventCodeDispatch:
			at := slices.Index(open, id)
			if at < 0 {
				ts.Fatalf("event %d settles %q, which is not running", i, id)
			}
			open = slices.Delete(open, at, at+1)
		}
	}
	if len(open) > 0 {
		ts.Fatalf("calls without an end: %q", open)
	}
	if diff := cmp.Diff(append([]string{}, want...), types); diff != "" {
		ts.Fatalf("other events (-want +got):\n%s", diff)
	}
}
