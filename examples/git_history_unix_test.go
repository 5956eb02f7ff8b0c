//go:build unix

package examples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/shelltools"
)

// commit is one commit of a repository a test makes.
type commit struct {
	author, month, subject string
	files                  map[string]string
	remove                 []string
}

func TestGitHistory(t *testing.T) {
	needGit(t)
	dir := repository(t, []commit{
		{"Ann", "2026-01", "first", map[string]string{"a.txt": "1\n2\n", "pic.png": "\x00\x01"}, nil},
		{"Bo \"B\" Þór", "2026-01", "1\t2\tno file", map[string]string{"a.txt": "1\n2\n3\n", "tab\tand space.txt": "x\n"}, nil},
		{"Ann", "2026-01", "", map[string]string{"a.txt": "one\n2\n3\n"}, nil},
		{"Ann", "2026-02", "fields\x1e apart\x1f $(touch canary) `\\", map[string]string{"b.txt": "1\n2\n3\n"}, []string{"a.txt"}},
		{"Ann", "2026-03", "nothing", nil, nil},
		{"__proto__", "2025-12", "'quoted' \"twice\"", map[string]string{"line\nbreak": "1\n"}, nil},
	})
	const want = `{"commits":6,"authors":[` +
		`{"author":"Ann","commits":4,"months":{"2026-03":1,"2026-02":1,"2026-01":2},"latest":"nothing"},` +
		`{"author":"__proto__","commits":1,"months":{"2025-12":1},"latest":"'quoted' \"twice\""},` +
		`{"author":"Bo \"B\" Þór","commits":1,"months":{"2026-01":1},"latest":"1\t2\tno file"}],` +
		`"files":[{"path":"a.txt","commits":4,"lines":8},{"path":"b.txt","commits":1,"lines":3},` +
		`{"path":"line\nbreak","commits":1,"lines":1},{"path":"tab\tand space.txt","commits":1,"lines":1},{"path":"pic.png","commits":1,"lines":0}]}`
	const newest = `{"commits":2,"authors":[` +
		`{"author":"__proto__","commits":1,"months":{"2025-12":1},"latest":"'quoted' \"twice\""},` +
		`{"author":"Ann","commits":1,"months":{"2026-03":1},"latest":"nothing"}],` +
		`"files":[{"path":"line\nbreak","commits":1,"lines":1}]}`
	for _, tc := range []struct{ name, input, want string }{
		{"as it stands", "", want},
		{"from a directory below", `{"dir":"below"}`, want},
		{"the newest commits", `{"max":2}`, newest},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, isolation codemode.Isolation) {
				out := runExample(t, example{script: "git-history.ts", input: tc.input, tools: shellTools(t, dir, 0), isolation: isolation})
				if diff := cmp.Diff(tools.MustJSON(tc.want).String(), outcomeOf(t, out).Result.String()); diff != "" {
					t.Errorf("the history differs (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestGitHistoryPages sums up a log that is longer than what one command may
// print.
func TestGitHistoryPages(t *testing.T) {
	needGit(t)
	var commits []commit
	for i := range 1_200 {
		commits = append(commits, commit{"Ann", "2026-01", strings.Repeat("long ", 20), map[string]string{"n.txt": fmt.Sprintln(i)}, nil})
	}
	dir := repository(t, commits)
	const format = `{"commits":%d,"authors":[{"author":"Ann","commits":%d,"months":{"2026-01":%d},"latest":%q}],"files":[{"path":"n.txt","commits":%d,"lines":%d}]}`
	subject := strings.TrimSpace(commits[0].subject)
	for _, tc := range []struct {
		name   string
		output int // bytes one command may print
		input  string
		n      int
		lines  int // added and removed
		calls  int
	}{
		{"pages of 500", 0, "", 1_200, 2_399, 1 + 3},
		{"pages are halved twice", 16 << 10, "", 1_200, 2_399, 1 + 2 + 10},
		{"a whole number of pages", 0, `{"max":1000}`, 1_000, 2_000, 1 + 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := runExample(t, example{script: "git-history.ts", input: tc.input, tools: shellTools(t, dir, tc.output)})
			want := fmt.Sprintf(format, tc.n, tc.n, tc.n, subject, tc.n, tc.lines)
			if diff := cmp.Diff(want, outcomeOf(t, out).Result.String()); diff != "" {
				t.Errorf("the history differs (-want +got):\n%s", diff)
			}
			if calls := codemode.ReportOf(out).Usage.Calls; calls != tc.calls {
				t.Errorf("it took %d calls, want %d", calls, tc.calls)
			}
		})
	}
}

// TestGitHistoryOfManyFiles has one commit that touches more files than one
// command may print.
func TestGitHistoryOfManyFiles(t *testing.T) {
	needGit(t)
	many := map[string]string{}
	for i := range 300 {
		many[fmt.Sprintf("file%d.txt", i)] = "1\n"
	}
	dir := repository(t, []commit{
		{"Ann", "2026-01", "one", map[string]string{"a.txt": "1\n"}, nil},
		{"Ann", "2026-01", "many", many, nil},
		{"Ann", "2026-01", "another", map[string]string{"a.txt": "2\n"}, nil},
	})
	out := runExample(t, example{script: "git-history.ts", tools: shellTools(t, dir, 1<<10)})
	const want = `{"commits":3,"authors":[{"author":"Ann","commits":3,"months":{"2026-01":3},"latest":"another"}],"files":[{"path":"a.txt","commits":2,"lines":3}]}`
	got := outcomeOf(t, out)
	if diff := cmp.Diff(want, got.Result.String()); diff != "" {
		t.Errorf("the history differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`not counted: the files of "many", which are too many`}, got.Logs); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

func TestGitHistoryWithoutOne(t *testing.T) {
	needGit(t)
	for _, tc := range []struct{ name, dir, want string }{
		{"no repository", t.TempDir(), "there is no history to sum up: fatal: not a git repository"},
		{"no commit", repository(t, nil), "there is no history to sum up: fatal: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := runExample(t, example{script: "git-history.ts", tools: shellTools(t, tc.dir, 0)})
			if !strings.HasPrefix(out.Text(), tc.want) {
				t.Errorf("got %s, want %s", out.Text(), tc.want)
			}
		})
	}
}

func needGit(t *testing.T) {
	for _, program := range []string{"git", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is needed: %v", program, err)
		}
	}
}

// gitEnv keeps git from the settings of whoever runs the tests, and from a
// repository around dir.
func gitEnv(dir string) []string {
	return []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir), "LC_ALL=C"}
}

// shellTools is bash in a directory. Of a command's output so many bytes are
// kept; zero is the default.
func shellTools(t *testing.T, dir string, output int) []*tools.Definition {
	t.Helper()
	set, err := shelltools.New(dir, &shelltools.Options{Env: gitEnv(dir), OutputBytes: output})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set.Tools()
}

// repository makes a repository of commits, oldest first.
func repository(t *testing.T, commits []commit) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "", "init", "--quiet")
	git(t, dir, "", "symbolic-ref", "HEAD", "refs/heads/main")
	var b strings.Builder
	for _, c := range commits {
		date, err := time.Parse("2006-01", c.month)
		if err != nil {
			t.Fatal(err)
		}
		who := fmt.Sprintf("%s <who@example.org> %d +0000", c.author, date.Unix())
		fmt.Fprintf(&b, "commit refs/heads/main\nauthor %s\ncommitter %s\ndata %d\n%s\n", who, who, len(c.subject), c.subject)
		for name, text := range c.files {
			fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", quoted(name), len(text), text)
		}
		for _, name := range c.remove {
			fmt.Fprintf(&b, "D %s\n", quoted(name))
		}
	}
	if len(commits) > 0 {
		git(t, dir, b.String(), "fast-import", "--quiet")
	}
	if err := os.Mkdir(filepath.Join(dir, "below"), 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

func quoted(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}

func git(t *testing.T, dir, stdin string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), gitEnv(dir)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
