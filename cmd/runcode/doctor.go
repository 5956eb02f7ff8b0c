package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/internal/terminal"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/mcptools"
)

func newDoctorCommand(s *streams) *cobra.Command {
	var root string
	var c configFlags
	var servers serverFlags
	var start, json bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what protects this machine from programs, and which settings hold",
		Long: "doctor starts one worker process and ends it again, and lists the layers of protection\n" +
			"around it, the settings that would hold for a run, and its MCP servers. No program, hook or\n" +
			"tool is started; with --servers the servers are, and ended again.\n\n" +
			"Exit status: 0 all is well, 1 no worker or not every server can be started, 2 usage or\n" +
			"configuration.",
		Example: "  runcode doctor\n  runcode doctor --servers --mcp servers.json\n  runcode doctor --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(root)
			if err != nil {
				return err
			}
			list, notes, err := servers.load(root, !c.ignore)
			if err != nil {
				return err
			}
			h := examine(commandContext(cmd), cfg)
			h.Notes = notes
			if err := h.examineServers(commandContext(cmd), root, list, start); err != nil {
				return err
			}
			return report(s, h, withSecrets(list.Secrets()), json)
		},
	}
	cmd.Flags().StringVar(&root, "root", ".", "the `directory` whose settings count")
	c.register(cmd.Flags())
	servers.register(cmd.Flags())
	cmd.Flags().BoolVar(&start, "servers", false, "start the MCP servers to see whether and with which tools they do")
	cmd.Flags().BoolVar(&json, "json", false, "print one JSON object")
	return cmd
}

// health is what --json prints.
type health struct {
	Version  string          `json:"version"`
	Go       string          `json:"go"`
	Platform string          `json:"platform"`
	Problem  string          `json:"problem,omitempty"` // why no worker starts
	Layers   []worker.Layer  `json:"layers"`
	Heap     int64           `json:"heap"` // bytes a program may use by default
	Settings []healthSetting `json:"settings"`
	Servers  []healthServer  `json:"servers"`
	Notes    []string        `json:"notes,omitempty"`
	Terminal bool            `json:"terminal"` // whether a person can be asked
}

type healthServer struct {
	Name    string         `json:"name"`
	What    string         `json:"what"`            // its kind, and its program or host
	State   mcptools.State `json:"state,omitempty"` // empty: it was not started
	Tools   int            `json:"tools"`
	Problem []string       `json:"problems,omitempty"`
	Stderr  []string       `json:"stderr,omitempty"` // what it printed last, of a server that is down
}

// lastLines are how many lines of a server's standard error are shown.
const lastLines = 10

func newHealthServer(name string, cfg mcptools.Server, status mcptools.Status) healthServer {
	h := healthServer{Name: name, What: cfg.String(), State: status.State, Tools: len(status.Tools)}
	if status.State == mcptools.Down {
		h.Problem = append(h.Problem, status.Reason)
		if text := strings.TrimSpace(status.Stderr); text != "" {
			lines := strings.Split(text, "\n")
			h.Stderr = lines[max(0, len(lines)-lastLines):]
		}
	}
	for _, o := range status.LeftOut {
		h.Problem = append(h.Problem, fmt.Sprintf("the tool %s is left out: %s", termtext.EscapeLine(head(o.Tool)), o.Reason))
	}
	h.Problem = append(h.Problem, status.Notes...)
	return h
}

type healthSetting struct {
	File    string `json:"file"`
	Trusted bool   `json:"trusted"` // whether it may grant, and run hooks
	Hooks   int    `json:"hooks"`   // how many it would run; none is started here
}

// examineServers lists the servers of a configuration, and starts them if it is
// told to.
func (h *health) examineServers(ctx context.Context, root string, cfg mcptools.Config, start bool) error {
	h.Servers = []healthServer{}
	known := map[string]mcptools.Status{}
	if start && len(cfg.Servers) > 0 {
		dir, err := filepath.Abs(root)
		if err != nil {
			return err
		}
		client, err := mcptools.Connect(ctx, cfg, &mcptools.Options{Dir: dir})
		if err != nil {
			return err
		}
		registry, err := tools.NewRegistry()
		if err != nil {
			return errors.Join(err, client.Close())
		}
		client.Register(registry)
		for _, status := range client.Status() {
			known[status.Server] = status
		}
		if err := client.Close(); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Servers)) {
		h.Servers = append(h.Servers, newHealthServer(name, cfg.Servers[name], known[name]))
	}
	return nil
}

// examine starts a worker to see whether and how that works here.
func examine(ctx context.Context, cfg *config) *health {
	h := &health{
		Version: version(), Go: goruntime.Version(), Platform: goruntime.GOOS + "/" + goruntime.GOARCH,
		Layers: []worker.Layer{}, Settings: []healthSetting{},
	}
	if limits, err := (runtime.Limits{}).WithDefaults(); err == nil {
		h.Heap = limits.Heap
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if rt, err := worker.New(ctx, nil); err != nil {
		h.Problem = err.Error()
	} else {
		h.Layers = rt.Layers()
		_ = rt.Close()
	}
	if tty, err := terminal.Open(); err == nil {
		h.Terminal = true
		_ = tty.Close()
	}
	for _, file := range cfg.files {
		h.Settings = append(h.Settings, healthSetting{file.name, file.trusted, len(file.hookCommands(cfg.root))})
	}
	return h
}

func report(s *streams, h *health, redactor *redact.Redactor, json bool) error {
	text, escape := redactor.Known(h.text()), termtext.Escape
	if json {
		doc, err := encode(h)
		if err != nil {
			return err
		}
		text, escape = withoutSecrets(redactor, doc)+"\n", termtext.EscapeJSON
	}
	if err := s.print(text, escape); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	down := slices.ContainsFunc(h.Servers, func(server healthServer) bool { return server.State == mcptools.Down })
	if h.Problem != "" || down {
		return &programFailed{}
	}
	return nil
}

func (h *health) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "runcode %s, %s, %s\n", h.Version, h.Go, h.Platform)
	if h.Problem != "" {
		fmt.Fprintf(&b, "worker: cannot be started: %s\n", h.Problem)
	} else {
		fmt.Fprintf(&b, "worker: starts; a program may use %d MiB\n", h.Heap>>20)
	}
	for _, l := range h.Layers {
		fmt.Fprintf(&b, "  %-18s %s", l.Name, l.State)
		if l.Note != "" {
			fmt.Fprintf(&b, ": %s", l.Note)
		}
		b.WriteByte('\n')
	}
	for _, set := range h.Settings {
		fmt.Fprintf(&b, "settings: %s", set.File)
		switch {
		case !set.Trusted:
			b.WriteString(", which only tightens until `runcode trust`")
		case set.Hooks > 0:
			fmt.Fprintf(&b, ", with %s, not started here", counted(set.Hooks, "hook", "hooks"))
		}
		b.WriteByte('\n')
	}
	if len(h.Settings) == 0 {
		b.WriteString("settings: none\n")
	}
	for _, server := range h.Servers {
		fmt.Fprintf(&b, "MCP server: %s (%s)", server.Name, server.What)
		if server.State == "" {
			b.WriteString(", not started here; --servers does\n")
			continue
		}
		fmt.Fprintf(&b, ": %s", server.State)
		if server.State != mcptools.Down {
			fmt.Fprintf(&b, ", %s", counted(server.Tools, "tool", "tools"))
		}
		b.WriteByte('\n')
		for _, problem := range server.Problem {
			fmt.Fprintf(&b, "  %s\n", problem)
		}
		for _, line := range server.Stderr {
			fmt.Fprintf(&b, "  stderr: %s\n", line)
		}
	}
	for _, note := range h.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	if !h.Terminal {
		b.WriteString("terminal: none, so nobody can be asked and what would ask is denied\n")
	}
	return b.String()
}
