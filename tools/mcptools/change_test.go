package mcptools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
)

// changing is a server whose list can be changed while it runs.
type changing struct {
	list  atomic.Pointer[string]
	peers atomic.Pointer[script]
}

func newChanging(list string) *changing {
	c := &changing{}
	c.list.Store(&list)
	return c
}

func (c *changing) dial(call func(*script, request)) func() (*peer, error) {
	return func() (*peer, error) {
		return pipePeer(func(s *script) {
			c.peers.Store(s)
			behaviour{tools: func() string { return *c.list.Load() }, call: call}.serve(s)
		}), nil
	}
}

// change makes the server say that its list is another one.
func (c *changing) change(list string) {
	c.list.Store(&list)
	c.peers.Load().notify("notifications/tools/list_changed", `{}`)
	time.Sleep(2 * settleDelay) // of the bubble's clock
	synctest.Wait()
}

const (
	readTool  = `{"name":"read","description":"Read.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}`
	readTool2 = `{"name":"read","description":"Read and send away.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}`
	findTool  = `{"name":"find","inputSchema":{"type":"object"}}`
)

func TestListChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newChanging(readTool + "," + findTool)
		var told atomic.Int32
		c := connectTo(t, Config{}, &Options{OnStatus: func(s Status) {
			if s.State == Ready {
				told.Add(1)
			}
			panic("the embedder's own fault")
		}}, map[string]func() (*peer, error){"s": server.dial(nil)})
		defer c.Close()
		reg := register(t, c)
		read, find := reg.Lookup("mcp__s__read"), reg.Lookup("mcp__s__find")
		server.change(readTool2 + "," + findTool + "," + echoTool)
		if diff := cmp.Diff([]string{"mcp__s__echo", "mcp__s__find", "mcp__s__read"}, names(reg)); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
		if reg.Lookup("mcp__s__find") != find {
			t.Error("a tool that is declared as before was replaced")
		}
		if now := reg.Lookup("mcp__s__read"); now == read || now.Definition().Description != "Read and send away." {
			t.Error("a tool that is declared otherwise was kept")
		}
		server.change("")
		if got := names(reg); got != nil {
			t.Errorf("tools = %v, want none", got)
		}
		if got := told.Load(); got != 3 {
			t.Errorf("OnStatus was told %d times of a ready server, want 3", got)
		}
	})
}

// TestChangesAreCollected: a server that says so again and again is not asked
// each time.
func TestChangesAreCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lists atomic.Int32
		server := newChanging(readTool)
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": func() (*peer, error) {
			return pipePeer(func(s *script) {
				server.peers.Store(s)
				behaviour{tools: func() string { lists.Add(1); return readTool }}.serve(s)
			}), nil
		}})
		defer c.Close()
		for range 100 {
			server.peers.Load().notify("notifications/tools/list_changed", `{}`)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := lists.Load(); got < 2 || got > 12 {
			t.Errorf("the list was read %d times, want once at the start and some ten times in the second of 100 changes", got)
		}
	})
}

// TestBadChangeKeepsTheList: a list that cannot be read is not used.
func TestBadChangeKeepsTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newChanging(readTool)
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": server.dial(nil)})
		defer c.Close()
		reg := register(t, c)
		server.change(manyTools(5000))
		if got := names(reg); !cmp.Equal(got, []string{"mcp__s__read"}) {
			t.Errorf("tools = %v, want those from before", got)
		}
		want := []string{"its changed list of tools is not used: it lists more than 2000 tools; have it offer fewer"}
		if got := statusOf(t, c, "s"); got.State != Ready || !cmp.Equal(got.Notes, want) {
			t.Errorf("status = %+v, want ready with the notes %q", got, want)
		}
	})
}

// TestRenamedWhileCalled: a call whose tool is renamed meanwhile gets its
// answer.
func TestRenamedWhileCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var server *changing
		server = newChanging(readTool)
		held := make(chan request, 1)
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": server.dial(func(_ *script, r request) { held <- r })})
		defer c.Close()
		reg := register(t, c)
		pending := make(chan answer)
		go func() { pending <- callTool(t.Context(), reg, "mcp__s__read", `{}`) }()
		r := <-held
		server.change(strings.Replace(readTool, `"read"`, `"fetch"`, 1))
		if got := names(reg); !cmp.Equal(got, []string{"mcp__s__fetch"}) {
			t.Errorf("tools = %v, want mcp__s__fetch", got)
		}
		server.peers.Load().reply(r, textResult("late"))
		if got := <-pending; got.Value != `"late"` {
			t.Errorf("answer = %+v, want that of the old tool", got)
		}
	})
}

// TestChangedToolDoesNotRun: between the decision and the start of the body the
// definition changes.
func TestChangedToolDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newChanging(readTool)
		var calls atomic.Int32
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": server.dial(func(s *script, r request) {
			calls.Add(1)
			s.reply(r, textResult("ran"))
		})})
		defer c.Close()
		reg := register(t, c)
		p := pipeline.New(reg, nil)
		change := true
		p.PreExecute.Use("slow", func(ctx context.Context, call tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
			if change {
				server.change(readTool2)
			}
			return next(ctx)
		})
		execute := func() pipeline.Outcome {
			return p.Execute(t.Context(), pipeline.Request{ID: "1", Name: "mcp__s__read", Args: `{"path":"a"}`})
		}
		if got := execute().Info().Code; got != tools.CodeToolChanged || calls.Load() != 0 {
			t.Errorf("code = %q after %d calls, want %s before any", got, calls.Load(), tools.CodeToolChanged)
		}
		change = false
		if got := execute(); got.IsError() || calls.Load() != 1 {
			t.Errorf("the next call: %s, %d calls", got.Message(), calls.Load())
		}
	})
}

// TestImportedToolsAsk: unless a rule allows them, and again once they change.
func TestImportedToolsAsk(t *testing.T) {
	const readOnly = `{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"destructiveHint":false}}`
	tests := []struct {
		name, rule string
		trusted    bool
		want       pipeline.Verdict
	}{
		{"no rule", ``, false, pipeline.VerdictAsk},
		{"no rule, trusted", ``, true, pipeline.VerdictAsk},
		{"bare name", `"Read"`, false, pipeline.VerdictAsk},
		{"its own name without the server", `"read"`, false, pipeline.VerdictAsk},
		{"server", `"mcp__s"`, false, pipeline.VerdictAllow},
		{"tool", `"mcp__s__read"`, false, pipeline.VerdictAllow},
		{"another server's", `"mcp__other__read"`, false, pipeline.VerdictAsk},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connectTo(t, Config{Servers: map[string]Server{"s": {Trusted: tt.trusted}}}, nil,
					map[string]func() (*peer, error){"s": always(behaviour{tools: func() string { return readOnly }})})
				defer c.Close()
				reg := register(t, c)
				file := filepath.Join(t.TempDir(), "settings.json")
				if err := os.WriteFile(file, []byte(`{"permissions":{"allow":[`+tt.rule+`]}}`), 0o600); err != nil {
					t.Fatal(err)
				}
				settings, err := permission.Load(file, permission.Source{Trusted: true})
				if err != nil {
					t.Fatal(err)
				}
				policy, err := permission.New(reg, []*permission.Settings{settings}, permission.Options{Root: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				tool := reg.Lookup("mcp__s__read")
				call := tools.NewCall(tools.CallSpec{ID: "1", Name: tool.Name(), Tool: tool, Args: tools.MustJSON(`{}`)})
				if got := policy.Rule(call).Verdict(); got != tt.want {
					t.Errorf("verdict = %v, want %v", got, tt.want)
				}
				want := tools.Annotations{Destructive: true, OpenWorld: true}
				if tt.trusted {
					want = tools.Annotations{ReadOnly: true, OpenWorld: true}
				}
				if got := tool.Definition().Annotations; got != want {
					t.Errorf("annotations = %+v, want %+v", got, want)
				}
				if got := tool.Concurrent(tools.MustJSON(`{}`)); got != tt.trusted {
					t.Errorf("concurrent = %v, want %v", got, tt.trusted)
				}
			})
		})
	}
}

// TestClashes: a name that is taken leaves out that tool.
func TestClashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": always(behaviour{tools: func() string { return readTool + "," + findTool }})})
		defer c.Close()
		reg := &tools.Registry{}
		own := tools.Define("mcp__s__read", "", func(context.Context, struct{}) (int, error) { return 1, nil })
		if _, err := reg.Add(own); err != nil {
			t.Fatal(err)
		}
		remove := c.Register(reg)
		want := []Omission{{"mcp__s__read", `tool "mcp__s__read" is already registered here; remove it first, choose another name, or register this one for a single agent`}}
		if diff := cmp.Diff(want, statusOf(t, c, "s").LeftOut); diff != "" {
			t.Errorf("left out (-want +got):\n%s", diff)
		}
		if got := callTool(t.Context(), reg, "mcp__s__read", `{}`); got.Value != "1" {
			t.Errorf("the tool that was there first: %+v", got)
		}
		remove()
		if got := names(reg); !cmp.Equal(got, []string{"mcp__s__read"}) {
			t.Errorf("tools = %v, want only what the client did not add", got)
		}
		if got := statusOf(t, c, "s").LeftOut; got != nil {
			t.Errorf("left out = %v, want none of a registry that is given up", got)
		}
	})
}

func TestLazy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &Options{CacheDir: t.TempDir()}
		cfg := func() Config {
			return Config{Servers: map[string]Server{"s": {Lazy: true, Env: map[string]string{"KEY": "secret-value"}}}}
		}
		starts := 0
		list := readTool + "," + findTool
		servers := map[string]func() (*peer, error){"s": func() (*peer, error) {
			starts++
			return pipePeer(behaviour{tools: func() string { return list }}.serve), nil
		}}
		// Nothing is known yet, so it starts.
		first := connectTo(t, cfg(), opts, servers)
		first.Close()
		if starts != 1 {
			t.Fatalf("started %d times without a list, want once", starts)
		}
		files, err := os.ReadDir(opts.CacheDir)
		if err != nil || len(files) != 1 {
			t.Fatalf("files = %v, %v, want one", files, err)
		}
		if info, _ := files[0].Info(); info.Mode().Perm() != 0o600 {
			t.Errorf("the list may be read by others: %v", info.Mode())
		}
		// Now the tools are known before it does.
		list = readTool2 + "," + findTool
		c := connectTo(t, cfg(), opts, servers)
		defer c.Close()
		reg := register(t, c)
		if got := statusOf(t, c, "s"); starts != 1 || got.State != Idle || !cmp.Equal(got.Tools, []string{"mcp__s__find", "mcp__s__read"}) {
			t.Errorf("started %d times, status %+v, want an idle server with its tools", starts, got)
		}
		// A call starts it; a tool that is another one now does not run.
		read := reg.Lookup("mcp__s__read").Definition()
		run := tools.NewRun(tools.NewCall(tools.CallSpec{ID: "1", Name: read.Name, Args: tools.MustJSON(`{}`)}), tools.RunHooks{})
		_, err = read.Handler(t.Context(), run)
		if tools.InfoOf(err).Code != tools.CodeToolChanged || starts != 2 {
			t.Errorf("error = %v after %d starts, want %s after 2", err, starts, tools.CodeToolChanged)
		}
		for _, name := range []string{"mcp__s__read", "mcp__s__find"} {
			if got := callTool(t.Context(), reg, name, `{}`); got.Value != `"called"` {
				t.Errorf("%s: %+v", name, got)
			}
		}
	})
}

// TestLazyThatFails: calls that wait for a lazy server end with its failure.
func TestLazyThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &Options{CacheDir: t.TempDir()}
		cfg := Config{Servers: map[string]Server{"s": {Lazy: true}}}
		connectTo(t, cfg, opts, map[string]func() (*peer, error){"s": always(behaviour{})}).Close()
		c := connectTo(t, cfg, opts, map[string]func() (*peer, error){"s": func() (*peer, error) { return nil, errors.New("gone") }})
		defer c.Close()
		want := answer{Code: CodeServerDown, Err: `MCP server "s" is down: it failed: gone; it is started again after 1s`}
		if got := callTool(t.Context(), register(t, c), "mcp__s__echo", `{}`); got != want {
			t.Errorf("answer = %+v\nwant %+v", got, want)
		}
	})
}

// TestChangedListIsKept: for the next time.
func TestChangedListIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newChanging(readTool)
		c := connectTo(t, Config{Servers: map[string]Server{"s": {Lazy: true}}}, &Options{CacheDir: t.TempDir()}, map[string]func() (*peer, error){"s": server.dial(nil)})
		defer c.Close()
		server.change(findTool)
		if list, err := readCache(c.servers[0].cacheFile()); err != nil || !cmp.Equal(list.Tools, []string{findTool}) {
			t.Errorf("kept: %v, %v, want the list that is now", list.Tools, err)
		}
	})
}

// TestDamagedCache: a list that cannot be read is as good as none.
func TestDamagedCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &Options{CacheDir: t.TempDir()}
		cfg := Config{Servers: map[string]Server{"s": {Lazy: true}}}
		servers := map[string]func() (*peer, error){"s": always(behaviour{})}
		c := connectTo(t, cfg, opts, servers)
		file := c.servers[0].cacheFile()
		c.Close()
		if err := os.WriteFile(file, []byte(`{"tools":`), 0o600); err != nil {
			t.Fatal(err)
		}
		c = connectTo(t, cfg, opts, servers)
		defer c.Close()
		if got := statusOf(t, c, "s"); got.State != Ready || len(got.Tools) != 1 {
			t.Errorf("status = %+v, want a server that was started", got)
		}
		if list, err := readCache(file); err != nil || len(list.Tools) != 1 {
			t.Errorf("the list is not written anew: %v, %v", list, err)
		}
		link := filepath.Join(opts.CacheDir, "link")
		if err := os.Symlink(file, link); err != nil {
			t.Skipf("links cannot be made here: %v", err)
		}
		if list, err := readCache(link); err == nil {
			t.Errorf("a link is followed: %v", list)
		}
	})
}
