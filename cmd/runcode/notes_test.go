package main

import (
	"bytes"
	"testing"
)

func TestHostLog(t *testing.T) {
	var b bytes.Buffer
	log := hostLog(&b, false)
	log.Info("not worth a line")
	log.Warn("no hard memory limit")
	log.With("event", "tool/call").Error("event sink failed", "error", "disk full\x1b[2J\nat all")
	want := "note: no hard memory limit\nnote: event sink failed, event: tool/call, error: disk full\\x1b[2J\\nat all\n"
	if b.String() != want {
		t.Errorf("the notes are %q, want %q", b.String(), want)
	}
	b.Reset()
	hostLog(&b, true).Error("event sink failed")
	if b.Len() > 0 {
		t.Errorf("a quiet command noted %q", b.String())
	}
}
