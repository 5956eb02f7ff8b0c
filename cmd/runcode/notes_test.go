package main

import (
	"bytes"
	"testing"

	"github.com/runcode-go/runcode/pipeline/redact"
)

func TestHostLog(t *testing.T) {
	var b bytes.Buffer
	log := hostLog(&b, false, redact.New(&redact.Options{Secrets: []redact.Secret{{Name: "TOKEN", Value: "hunter2hunter2"}}}))
	log.Info("not worth a line")
	log.Warn("no hard memory limit", "token", "hunter2hunter2")
	log.With("event", "tool/call").Error("event sink failed", "error", "disk full\x1b[2J\nat all")
	want := "note: no hard memory limit, token: [redacted: TOKEN]\nnote: event sink failed, event: tool/call, error: disk full\\x1b[2J\\nat all\n"
	if b.String() != want {
		t.Errorf("the notes are %q, want %q", b.String(), want)
	}
	b.Reset()
	hostLog(&b, true, nil).Error("event sink failed")
	if b.Len() > 0 {
		t.Errorf("a quiet command noted %q", b.String())
	}
}
