package main

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/internal/terminal"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
)

func newDoctorCommand(s *streams) *cobra.Command {
	var root string
	var c configFlags
	var json bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what protects this machine from programs, and which settings hold",
		Long: "doctor starts one worker process and ends it again, and lists the layers of protection\n" +
			"around it and the settings that would hold for a run. No program, hook or tool is started.\n\n" +
			"Exit status: 0 a worker can be started, 1 none can, 2 usage or configuration.",
		Example: "  runcode doctor\n  runcode doctor --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(root)
			if err != nil {
				return err
			}
			return report(s, examine(cmd.Context(), cfg), json)
		},
	}
	cmd.Flags().StringVar(&root, "root", ".", "the `directory` whose settings count")
	c.register(cmd.Flags())
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
	Terminal bool            `json:"terminal"` // whether a person can be asked
}

type healthSetting struct {
	File    string `json:"file"`
	Trusted bool   `json:"trusted"` // whether it may grant, and run hooks
	Hooks   int    `json:"hooks"`   // how many it would run; none is started here
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

func report(s *streams, h *health, json bool) error {
	redactor := ownSecrets()
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
	if h.Problem != "" {
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
	if !h.Terminal {
		b.WriteString("terminal: none, so nobody can be asked and what would ask is denied\n")
	}
	return b.String()
}
