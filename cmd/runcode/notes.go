package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline/redact"
)

// hostLog takes what the pipeline and the worker pool say to the host. A person
// reads it, so it comes as notes.
func hostLog(w io.Writer, quiet bool, redactor *redact.Redactor) *slog.Logger {
	if quiet {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(noteHandler{w: w, redactor: redactor})
}

// noteHandler writes warnings and errors as one line each.
type noteHandler struct {
	w        io.Writer
	redactor *redact.Redactor
	attrs    []slog.Attr
}

// Enabled implements slog.Handler.
func (h noteHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle implements slog.Handler.
func (h noteHandler) Handle(_ context.Context, r slog.Record) error {
	parts := []string{r.Message}
	add := func(a slog.Attr) bool {
		parts = append(parts, fmt.Sprintf("%s: %v", a.Key, a.Value))
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	_, err := fmt.Fprintf(h.w, "note: %s\n", termtext.EscapeLine(h.redactor.Text(strings.Join(parts, ", "))))
	return err
}

// WithAttrs implements slog.Handler.
func (h noteHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return noteHandler{h.w, h.redactor, append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

// WithGroup implements slog.Handler; nobody here groups.
func (h noteHandler) WithGroup(string) slog.Handler { return h }
