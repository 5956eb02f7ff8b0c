package spill_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline/spill"
)

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func mustOpen(t *testing.T, dir string, opts *spill.Options) *spill.Store {
	t.Helper()
	s, err := spill.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want %q in it", err, want)
	}
}

func TestPut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spill")
	s := mustOpen(t, dir, nil)
	text := strings.Repeat("ünïcode\x00\n", 100_000)
	first, err := s.Put(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "text", read(t, first) == text, true)
	check(t, "is absolute", filepath.IsAbs(first), true)
	check(t, "directory", filepath.Dir(first), dir)
	second, err := s.Save(context.Background(), "../../call", text)
	if err != nil {
		t.Fatal(err)
	}
	if second == first || strings.Contains(second, "call") || len(filepath.Base(second)) < 26 {
		t.Errorf("locators %q and %q, want two that cannot be guessed", first, second)
	}
	// A store opened again adds to what is there.
	third, err := mustOpen(t, dir, nil).Put(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	check(t, "an empty text", read(t, third), "")
	check(t, "files", entries(t, dir), 3)
}

// The form of codemode.Options.Store.
var _ func(ctx context.Context, callID, text string) (string, error) = (*spill.Store)(nil).Save

func TestRelativeDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	s := mustOpen(t, "spill", nil)
	path, err := s.Put(context.Background(), "x")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	check(t, "text", read(t, path), "x")
}

func TestPutRefuses(t *testing.T) {
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the run was given up"))
	for _, tt := range []struct {
		name string
		ctx  context.Context
		opts *spill.Options
		text string
		want string
	}{
		{"an ended context", ended, nil, "x", "the run was given up"},
		{"more than fits", context.Background(), &spill.Options{MaxBytes: 10}, "12345678901", "text of 11 bytes in"},
		{"a redactor that crashes", context.Background(), &spill.Options{Redact: func(string) string { panic("x") }}, "secret", "the redactor crashed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "spill")
			s := mustOpen(t, dir, tt.opts)
			_, err := s.Put(tt.ctx, tt.text)
			refused(t, err, tt.want)
			check(t, "files", entries(t, dir), 0)
		})
	}
}

func TestPutRedacts(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "spill"), &spill.Options{Redact: strings.ToUpper})
	path, err := s.Put(context.Background(), "x")
	if err != nil {
		t.Fatal(err)
	}
	check(t, "text", read(t, path), "X")
}

// The cap holds for the sum, whoever puts; what failed is given back.
func TestMaxBytes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spill")
	s := mustOpen(t, dir, &spill.Options{MaxBytes: 50})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { _, _ = s.Put(context.Background(), "1234567890") })
	}
	wg.Wait()
	check(t, "files", entries(t, dir), 5)
	_, err := s.Put(context.Background(), "1")
	refused(t, err, "50 of at most 50 bytes are used")
	_, err = spill.Open(dir, &spill.Options{MaxBytes: -1})
	refused(t, err, "MaxBytes is -1")
}

func TestFailedPutGivesRoomBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spill")
	s := mustOpen(t, dir, &spill.Options{MaxBytes: 10})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := s.Put(context.Background(), "1234567890")
		refused(t, err, "closed")
	}
	if err := s.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, dir, want string }{
		{"a file", file, "not a directory"},
		{"a missing parent", filepath.Join(dir, "a", "b"), filepath.Join("a", "b")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := spill.Open(tt.dir, nil)
			refused(t, err, tt.want)
		})
	}
}
