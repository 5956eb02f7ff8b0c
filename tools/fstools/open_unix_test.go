//go:build unix

package fstools

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNotRegular has every tool meet files that would make a plain open or read
// wait for ever.
func TestNotRegular(t *testing.T) {
	set, dir := newSet(t, map[string]string{"a.txt": "x\n"}, nil)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skipf("named pipes cannot be made here: %v", err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, ignoreFile), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // the address of a socket must be short
	if l, err := net.Listen("unix", "sock"); err == nil {
		defer l.Close()
	}
	link(t, "pipe", filepath.Join(dir, "topipe"))
	for _, name := range []string{"pipe", "topipe"} {
		_, err := set.read(t.Context(), noRun, readIn{FilePath: name})
		wantFailure(t, err, codeNotRegular, "named pipe")
		_, err = set.grep(t.Context(), noRun, grepIn{Pattern: "x", Path: name})
		wantFailure(t, err, codeNotRegular, "named pipe")
		_, err = set.glob(t.Context(), noRun, globIn{Pattern: "*", Path: name})
		wantFailure(t, err, codeNotDir)
	}
	reg := registry(t, set)
	for _, name := range []string{"pipe", "topipe", "sock"} {
		_, _, err := call(t, reg, "write", writeArgs(name, "x"))
		wantFailure(t, err, codeNotRegular, "only regular files")
		_, _, err = call(t, reg, "edit", editArgs(name, "x", "y", false))
		wantFailure(t, err, codeNotRegular, "only regular files")
	}
	_, err := set.read(t.Context(), noRun, readIn{FilePath: "sock"})
	wantFailure(t, err, codeNotRegular, "socket")
	got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**"})
	if diff := cmp.Diff([]string{"a.txt"}, got.Paths); err != nil || diff != "" {
		t.Errorf("%v, paths (-want +got):\n%s", err, diff)
	}
	found, err := set.grep(t.Context(), noRun, grepIn{Pattern: "x"})
	if err != nil || found.Total != 1 {
		t.Errorf("grep: %+v, %v; want 1 match", found, err)
	}
}

func TestDevice(t *testing.T) {
	set, err := New("/dev", nil)
	if err != nil {
		t.Skipf("there is no /dev here: %v", err)
	}
	defer set.Close()
	for _, name := range []string{"null", "zero", "tty"} {
		if _, err := os.Stat("/dev/" + name); err != nil {
			continue
		}
		_, err := set.read(t.Context(), noRun, readIn{FilePath: name})
		wantFailure(t, err, codeNotRegular, "device")
	}
}

func TestPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser is denied nothing, so there is nothing to see")
	}
	set, dir := newSet(t, map[string]string{"shut/a": "x\n", "b": "x\n", "c": "x\n"}, nil)
	for name, mode := range map[string]os.FileMode{"shut": 0, "b": 0} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "shut"), 0o700) })
	for _, name := range []string{"b", "shut/a"} {
		_, err := set.read(t.Context(), noRun, readIn{FilePath: name})
		wantFailure(t, err, codePermission, "denies access")
	}
	got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "x"})
	want := grepOut{Matches: []grepMatch{{Path: "c", Line: 1, Text: "x"}}, Files: 1, Total: 1,
		Note: "1 directory could not be read; 1 file could not be read"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, value (-want +got):\n%s", err, diff)
	}
}

func TestNameNotUTF8(t *testing.T) {
	set, dir := newSet(t, map[string]string{"a": "x\n"}, nil)
	if err := os.WriteFile(filepath.Join(dir, "b\xff"), []byte("x\n"), 0o644); err != nil {
		t.Skipf("the file system takes UTF-8 names only: %v", err)
	}
	got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**"})
	want := globOut{Paths: []string{"a"}, Total: 1, Note: "1 entry left out because their names are not UTF-8"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, value (-want +got):\n%s", err, diff)
	}
}

// TestPermissionBits has a replaced file keep its permissions, and a new one get
// those any program gives it.
func TestPermissionBits(t *testing.T) {
	set, dir := newSet(t, map[string]string{"a": "x\n"}, nil)
	reg := registry(t, set)
	for _, mode := range []os.FileMode{0o600, 0o644, 0o755, 0o222 | 0o400, 0o666} {
		if err := os.Chmod(filepath.Join(dir, "a"), mode); err != nil {
			t.Fatal(err)
		}
		for _, c := range [][2]string{{"write", writeArgs("a", "y\n")}, {"edit", editArgs("a", "y", "x", false)}} {
			if _, _, err := call(t, reg, c[0], c[1]); err != nil {
				t.Fatal(err)
			}
			if got := modeOf(t, filepath.Join(dir, "a")); got != mode {
				t.Errorf("%s leaves the mode %v, want %v", c[0], got, mode)
			}
		}
	}
	if err := os.Chmod(filepath.Join(dir, "a"), 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if _, _, err := call(t, reg, "write", writeArgs("a", "y\n")); err != nil {
		t.Fatal(err)
	}
	if got := modeOf(t, filepath.Join(dir, "a")); got != 0o755 {
		t.Errorf("the mode of a set-user-ID file is %v after a write, want 0755 without that bit", got)
	}
	if _, _, err := call(t, reg, "write", writeArgs("sub/new", "y\n")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "plain"), "") // made with 0644
	if got, want := modeOf(t, filepath.Join(dir, "sub/new"))&0o644, modeOf(t, filepath.Join(dir, "plain")); got != want {
		t.Errorf("a new file has the mode %v, want at least %v", got, want)
	}
}

func modeOf(t *testing.T, name string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

// TestNotWritable has a file of another user, whose directory is ours.
func TestNotWritable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser is denied nothing, so there is nothing to see")
	}
	set, dir := newSet(t, map[string]string{"a": "x\n"}, nil)
	if err := os.Chmod(filepath.Join(dir, "a"), 0o422); err != nil { // the owner may not write it, others may
		t.Fatal(err)
	}
	_, _, err := call(t, registry(t, set), "write", writeArgs("a", "y\n"))
	wantFailure(t, err, codePermission, "read-only")
}

// TestExchangedWhileOpening has another program exchange a file or a directory on
// the path for a link to a secret in the root, and back, again and again.
func TestExchangedWhileOpening(t *testing.T) {
	for _, tt := range []struct{ name, path, put string }{
		{"a file by a link", "d/f", "link"},
		{"a directory by a link", "d", "dirlink"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, root := newSet(t, map[string]string{"d/f": "harmless\n", "secrets/f": "secret\n", "a": "", "b": ""}, nil)
			link(t, filepath.Join(root, "secrets/f"), filepath.Join(root, "d/link"))
			link(t, "secrets", filepath.Join(root, "dirlink"))
			dir, err := os.OpenRoot(filepath.Join(root, filepath.Dir(tt.path)))
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			if err := swap(set.root, "a", "b"); err != nil {
				t.Skipf("files cannot be exchanged here: %v", err)
			}
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for {
					select {
					case <-stop:
						return
					default:
						if err := swap(dir, filepath.Base(tt.path), tt.put); err != nil {
							t.Error(err)
							return
						}
					}
				}
			}()
			for range 3_000 {
				f, info, err := set.open("d/f")
				if err != nil {
					continue // refused at that moment
				}
				text := make([]byte, 4)
				if _, err := f.Read(text); err != nil || string(text) != "harm" {
					t.Errorf("the open file is %v and holds %q, %v", info.Mode(), text, err)
				}
				f.Close()
			}
			close(stop)
			<-stopped
		})
	}
}
