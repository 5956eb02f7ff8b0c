package policy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"unicode/utf8"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// SpillOptions configures Spill. The zero value is useful.
type SpillOptions struct {
	// MaxBytes is how much text of one result a model is shown. Zero: 64 KiB. A
	// negative number panics in Spill.
	MaxBytes int
	// Exclude are tools whose results stay whole. Nil: "read", which is how a
	// model gets at what was stored.
	Exclude ToolNames
	// Hint tells the model how to read what was stored, "" for nothing.
	Hint string
	// Logger is told what could not be stored. Nil: slog.Default().
	Logger *slog.Logger
}

// Spill hands results whose text is too large for a model to save, which keeps
// the text and returns where (pipeline/spill.Store.Save does), and shows the
// model the text's head, its tail and that place instead. The value, which
// programs compute with, stays whole. A nil save panics; opts may be nil.
//
// These results are left as they are: those of nested calls, those with anything
// but text, those that another listener blocks or whose value it replaces, and
// those save fails for or whose place does not fit. Where another listener
// replaces the blocks, its blocks are what is kept and shown. save may be called
// from many goroutines.
//
// Register it with Pipeline.PostExecute.Prepend, so that it judges what the
// other listeners leave.
func Spill(save func(ctx context.Context, callID, text string) (locator string, err error), opts *SpillOptions) pipeline.Listener[pipeline.Settled, pipeline.PostDecision] {
	if save == nil {
		panic("policy.Spill: save is nil; open a spill.Store and pass its Save")
	}
	s := &spiller{save: save}
	if opts != nil {
		s.SpillOptions = *opts
	}
	if s.MaxBytes < 0 {
		panic("policy.Spill: MaxBytes is negative; zero takes the default")
	}
	if s.MaxBytes == 0 {
		s.MaxBytes = 64 << 10
	}
	if s.Exclude == nil {
		s.Exclude = ToolNames{"read"}
	}
	s.Exclude = slices.Clone(s.Exclude)
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	return s.listen
}

type spiller struct {
	SpillOptions
	save func(ctx context.Context, callID, text string) (string, error)
}

func (s *spiller) listen(ctx context.Context, e pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
	d, err := next(ctx)
	if err != nil || e.Call.Origin() != tools.OriginModel || s.Exclude.has(e.Call.Name()) || d.Blocks() {
		return d, err
	}
	if _, replaced := d.Value(); replaced {
		return d, nil
	}
	blocks, replaced := d.Content()
	if !replaced {
		blocks = e.Result.Content()
	}
	text, ok := onlyText(blocks)
	if !ok || len(text) <= s.MaxBytes {
		return d, nil
	}
	preview, err := s.spill(ctx, e.Call, text)
	if err != nil {
		s.Logger.Warn("cannot keep a large result elsewhere, so the model gets all of it",
			"tool", e.Call.Name(), "call", e.Call.ID(), "bytes", len(text), "error", err)
		return d, nil
	}
	return pipeline.AcceptContent([]tools.Content{tools.TextContent(preview)}).WithContexts(d.Contexts()...), nil
}

// onlyText is the text of blocks that are all text.
func onlyText(blocks []tools.Content) (text string, ok bool) {
	if slices.ContainsFunc(blocks, func(b tools.Content) bool { return b.Type != tools.ContentText }) {
		return "", false
	}
	return tools.ContentString(blocks), true
}

// spill keeps the text and returns what the model gets in its place.
func (s *spiller) spill(ctx context.Context, call tools.Call, text string) (preview string, err error) {
	locator, err := s.keep(ctx, call, text)
	if err != nil {
		return "", err
	}
	preview, fits := s.preview(text, locator)
	if !fits {
		return "", fmt.Errorf("the notice of the place %.200q does not fit into %d bytes; raise MaxBytes or return a shorter locator", locator, s.MaxBytes)
	}
	return preview, nil
}

// keep is save with its panics and its silence as errors.
func (s *spiller) keep(ctx context.Context, call tools.Call, text string) (locator string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("save crashed: %v", r)
		}
	}()
	locator, err = s.save(ctx, call.ID(), text)
	if err == nil && locator == "" {
		err = errors.New("save returned no locator")
	}
	return locator, err
}

// preview is the text's head and tail with the notice, in MaxBytes; fits is
// false if that is too little for the notice.
func (s *spiller) preview(text, locator string) (preview string, fits bool) {
	const cut, gap = "\n...\n", "\n\n"
	// What is omitted is at most all, so the notice grows no longer than this.
	room := s.MaxBytes - len(s.notice(len(text), locator))
	if room < 0 {
		return "", false
	}
	room -= len(cut) + len(gap)
	if room <= 0 {
		return s.notice(len(text), locator), true
	}
	head := text[:runeStart(text, room-room/3)]
	from := len(text) - room/3
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return head + cut + text[from:] + gap + s.notice(from-len(head), locator), true
}

// notice is DSH's.
func (s *spiller) notice(omitted int, locator string) string {
	text := fmt.Sprintf("(Omitted %d bytes. Full formatted result stored at: %s.", omitted, locator)
	if s.Hint != "" {
		text += " " + s.Hint
	}
	return text + ")"
}
