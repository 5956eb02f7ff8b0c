package examples

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
)

func TestJoinFiles(t *testing.T) {
	dir := tree(t, map[string]string{
		"one.json":  "\uFEFF" + `[{"k":1,"name":"left"},{"k":"1"},{"k":null},{"k":9007199254740993},{}]`,
		"many.json": `[{"k":1,"name":"a"},{"k":1,"name":"b"},{"k":null},{"k":9007199254740992},{"k":9007199254740993}]`,
		"none.json": `[]`,
	})
	for name, text := range contents(t, "data") {
		write(t, dir, "examples/data/"+name, string(text))
	}
	for _, tc := range []struct {
		name, input, printed, want string
	}{
		{
			"as it stands", "",
			"5 rows, 2 of them without a partner in examples/data/customers.json",
			`{"joined":[` +
				`{"order":"A-1","customer":7,"total":1250,"match":{"id":7,"name":"Ada Lind","city":"Oslo"}},` +
				`{"order":"A-2","customer":9,"total":400,"match":{"id":9,"name":"Cy Dale","city":"Oslo"}},` +
				`{"order":"A-3","customer":7,"total":80,"match":{"id":7,"name":"Ada Lind","city":"Oslo"}}],` +
				`"unmatched":[{"order":"A-4","customer":12,"total":999},{"order":"A-5","customer":null,"total":15}]}`,
		},
		{
			"several partners, equal names, large numbers", `{"left":"one.json","right":"many.json","leftKey":"k","rightKey":"k"}`,
			"5 rows, 3 of them without a partner in many.json",
			`{"joined":[{"k":1,"name":"left","match":{"k":1,"name":"a"}},{"k":1,"name":"left","match":{"k":1,"name":"b"}},` +
				`{"k":9007199254740993,"match":{"k":9007199254740993}}],"unmatched":[{"k":"1"},{"k":null},{}]}`,
		},
		{
			"nothing on the right", `{"left":"one.json","right":"none.json","leftKey":"name","rightKey":"name"}`,
			"5 rows, 5 of them without a partner in none.json",
			`{"joined":[],"unmatched":[{"k":1,"name":"left"},{"k":"1"},{"k":null},{"k":9007199254740993},{}]}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, isolation codemode.Isolation) {
				out := runExample(t, example{script: "join-files.ts", input: tc.input, tools: fileTools(t, dir), isolation: isolation})
				got := outcomeOf(t, out)
				if diff := cmp.Diff([]string{tc.printed}, got.Logs); diff != "" {
					t.Errorf("printed (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tc.want, got.Result.String()); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestJoinFilesReadsOn joins files that have more lines than one read returns.
func TestJoinFilesReadsOn(t *testing.T) {
	var left, right []string
	for i := range 5_000 {
		left = append(left, fmt.Sprintf(`{"id":%d}`, i))
		right = append(right, fmt.Sprintf(`{"of":%d}`, i+1))
	}
	dir := tree(t, map[string]string{
		"l.json": "[" + strings.Join(left, ",\n") + "]\n",
		"r.json": "[" + strings.Join(right, ",\n") + "]\n",
	})
	inBoth(t, func(t *testing.T, isolation codemode.Isolation) {
		out := runExample(t, example{script: "join-files.ts", input: `{"left":"l.json","right":"r.json","leftKey":"id","rightKey":"of"}`, tools: fileTools(t, dir), isolation: isolation})
		type row struct {
			ID int `json:"id"`
		}
		var got struct {
			Joined    []row `json:"joined"`
			Unmatched []row `json:"unmatched"`
		}
		if err := outcomeOf(t, out).Result.Unmarshal(&got); err != nil {
			t.Fatal(err)
		}
		if len(got.Joined) != 4_999 || got.Joined[4_998].ID != 4_999 || len(got.Unmatched) != 1 || got.Unmatched[0].ID != 0 {
			t.Errorf("joined %d rows, unmatched %v; want 4999 rows and the row 0", len(got.Joined), got.Unmatched)
		}
	})
}

func TestJoinFilesWantsArrays(t *testing.T) {
	dir := tree(t, map[string]string{"l.json": `[{"k":1}]`, "r.json": `{"k":1}`})
	out := tryExample(t, example{script: "join-files.ts", input: `{"left":"l.json","right":"r.json","leftKey":"k","rightKey":"k"}`, tools: fileTools(t, dir)})
	if !out.IsError() || !strings.Contains(out.Text(), "r.json holds no array of rows") {
		t.Errorf("got %s, want a failure that names the file", out.Text())
	}
}
