package permission_test

import (
	"path/filepath"
	"testing"

	"github.com/runcode-go/runcode/pipeline/permission"
)

func BenchmarkHidden(b *testing.B) {
	w := newWorld(b, workspace(b))
	p := w.policy(b, permission.Options{}, lists{Deny: []string{
		"Read(./secrets/**)", "Read(.env)", "Read(*.pem)", "Read(**/credentials/**)", "Read(~/.ssh/**)", "Edit(src/**)", "Bash(rm:*)",
	}}.settings(b))
	path := filepath.Join(w.root, "src/components/button/index.tsx")
	b.ReportAllocs()
	for b.Loop() {
		p.Hidden(w.root, path, false)
	}
}

func BenchmarkRule(b *testing.B) {
	w := newWorld(b, workspace(b))
	p := w.policy(b, permission.Options{}, lists{Deny: []string{"Read(./secrets/**)", "Bash(rm:*)"}, Allow: []string{"Edit(src/**)"}}.settings(b))
	call := w.call("edit", "src/a.go")
	b.ReportAllocs()
	for b.Loop() {
		p.Rule(call)
	}
}
