package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
	"github.com/runcode-go/runcode/runtime/worker"
)

// Options are what a Run does. The zero value is the built-in workloads in
// worker processes.
type Options struct {
	Seed uint64 // of the workloads' data
	// Only keeps the workloads whose name begins with one of these. Empty: all.
	Only []string
	// Quick takes few and small workloads: seconds instead of minutes.
	Quick bool
	// Data is a directory with recorded conversations and tool lists, each in a
	// folder of its own: bfcl-multi-turn, tau2-retail, nestful, mcp-tools. A folder
	// that is absent is left out and noted. Empty: the built-in workloads alone.
	Data string
	// Isolation is where programs run. Times depend on it, tokens do not.
	Isolation codemode.Isolation
	// Repeat is how often each program is timed. Zero: nothing is timed.
	Repeat int
	// RequestSeconds and TokensPerSecond are the model of latency: a request
	// takes so long before its answer begins, and the answer comes at that rate.
	// Zero: 1 s and 60 tokens/s.
	RequestSeconds, TokensPerSecond float64
	// Progress is told the title of each workload before it is run. It may be nil.
	Progress func(title string)
}

func (o *Options) setDefaults() error {
	if o.RequestSeconds < 0 || o.TokensPerSecond < 0 || o.Repeat < 0 {
		return fmt.Errorf("seconds of a request (%v), tokens a second (%v) or repetitions (%d) are negative; zero takes the default", o.RequestSeconds, o.TokensPerSecond, o.Repeat)
	}
	if o.RequestSeconds == 0 {
		o.RequestSeconds = 1
	}
	if o.TokensPerSecond == 0 {
		o.TokensPerSecond = 60
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return nil
}

// bench is one run of the benchmark.
type bench struct {
	opts    Options
	counter *counter
	runtime runtime.Runtime
	report  *Report
}

func newBench(ctx context.Context, opts *Options) (*bench, error) {
	b := &bench{}
	if opts != nil {
		b.opts = *opts
	}
	if err := b.opts.setDefaults(); err != nil {
		return nil, err
	}
	var err error
	if b.counter, err = newCounter(); err != nil {
		return nil, err
	}
	if b.runtime, err = openRuntime(ctx, b.opts.Isolation); err != nil {
		return nil, err
	}
	b.report = newReport(b.opts)
	return b, nil
}

func openRuntime(ctx context.Context, isolation codemode.Isolation) (runtime.Runtime, error) {
	if isolation == codemode.IsolationInProcess {
		return gojavm.New(nil)
	}
	return worker.New(ctx, nil)
}

// Run plays every workload in every arm and compares them. Arms that disagree are
// no error: their comparison says why it is refused.
func Run(ctx context.Context, opts *Options) (_ *Report, err error) {
	b, err := newBench(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.runtime.Close()) }()
	if err := b.builtIn(ctx); err != nil {
		return nil, err
	}
	if b.opts.Data != "" {
		if err := b.recorded(ctx); err != nil {
			return nil, err
		}
	}
	if len(b.report.Comparisons) == 0 {
		return nil, fmt.Errorf("no workload is called %s; the names are those of the first column of a report", strings.Join(b.opts.Only, " or "))
	}
	return b.report, nil
}

func (b *bench) builtIn(ctx context.Context) error {
	s := fullSizes
	if b.opts.Quick {
		s = smallSizes
	}
	list := suite(b.opts.Seed, s)
	if b.opts.Data != "" {
		dir := filepath.Join(b.opts.Data, "mcp-tools", "live")
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			b.report.note("mcp-tools is not in %s: no catalogue of real definitions", b.opts.Data)
		} else {
			real, err := realCatalogues(dir)
			if err != nil {
				return err
			}
			list = append(list, real...)
		}
	}
	for _, w := range list {
		if !b.wanted(w.title()) {
			continue
		}
		if err := b.compare(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) wanted(title string) bool {
	for _, prefix := range b.opts.Only {
		if strings.HasPrefix(title, prefix) {
			return true
		}
	}
	return len(b.opts.Only) == 0
}

// compare plays one workload in the arms every workload has.
func (b *bench) compare(ctx context.Context, w workload) error {
	b.opts.Progress(w.title())
	arms := []arm{sequential, batched, code, codeSearch}
	all, refused, err := b.playAll(ctx, w, arms)
	if err != nil {
		return err
	}
	c := Comparison{Workload: w.title(), Family: w.name, Size: w.size, About: w.about, Conversations: 1, Refused: refused}
	if refused == "" {
		for _, p := range all {
			c.Arms = append(c.Arms, b.arm(p.arm, p.tokens))
		}
		if b.opts.Repeat > 0 {
			if err := b.time(ctx, w, &c); err != nil {
				return err
			}
		}
	}
	b.report.add(c)
	return nil
}

// playAll plays a workload in several arms. refused says why they are not to be
// compared.
func (b *bench) playAll(ctx context.Context, w workload, arms []arm) (all []*played, refused string, err error) {
	for _, a := range arms {
		p, err := b.play(ctx, w, a)
		switch {
		case ctx.Err() != nil:
			return nil, "", context.Cause(ctx)
		case err != nil && refused == "":
			refused = fmt.Sprintf("%s: %v", a.name, err)
		case err == nil && refused == "" && len(all) > 0:
			refused = all[0].agrees(p)
		}
		if refused != "" {
			return nil, refused, nil
		}
		all = append(all, p)
	}
	return all, "", nil
}

// arm is the figures of an arm.
func (b *bench) arm(name string, t Tokens) Arm {
	return Arm{Name: name, Tokens: t, ModelSeconds: float64(t.Requests)*b.opts.RequestSeconds + float64(t.Output.Tokens)/b.opts.TokensPerSecond}
}
