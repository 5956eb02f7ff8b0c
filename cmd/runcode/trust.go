package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/tools"
)

// trustFile is where the operator's trust is kept, below the user's
// configuration directory.
const trustFile = "runcode/trusted.json"

// maxTrustFile bounds it.
const maxTrustFile = 1 << 20

// trusted is one configuration file as it was when the operator trusted it.
type trusted struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// trustStore knows the configuration files of working trees that the operator
// trusts to run programs and to grant permissions: each by its path and its
// content, so that a change needs trust again.
type trustStore struct {
	path     string
	homeless error // why there is no path
	files    []trusted
}

// openTrust reads the store; none is an empty one. Without a configuration
// directory nothing is trusted.
func openTrust() (*trustStore, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return &trustStore{homeless: err}, nil
	}
	s := &trustStore{path: filepath.Join(dir, filepath.FromSlash(trustFile))}
	err = regular(s.path)
	if absent(err) {
		return s, nil
	}
	if err == nil {
		err = s.read()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read which configuration files are trusted: %w; repair or remove %s", err, s.path)
	}
	return s, nil
}

func (s *trustStore) read() error {
	text, err := readFile(s.path, maxTrustFile)
	if err != nil {
		return err
	}
	return s.parse(text)
}

func (s *trustStore) parse(text string) error {
	doc, err := tools.ParseJSON(text)
	if err != nil {
		return err
	}
	var stored struct {
		Trusted []trusted `json:"trusted"`
	}
	if err := doc.Unmarshal(&stored); err != nil {
		return err
	}
	s.files = stored.Trusted
	return nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// resolved is the one path of a file in a directory that is reached through links
// too. A link that is the file itself is not followed: what is trusted elsewhere
// would run programs of the tree in which the link stands.
func resolved(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// trusts reports whether the file of that absolute path is trusted with this
// content.
func (s *trustStore) trusts(path, text string) bool {
	return slices.Contains(s.files, trusted{resolved(path), digest(text)})
}

// add trusts a file with this content and writes the store.
func (s *trustStore) add(path, text string) error {
	if s.path == "" {
		return fmt.Errorf("cannot keep what is trusted: there is no configuration directory for the user: %w", s.homeless)
	}
	path = resolved(path)
	s.files = slices.DeleteFunc(s.files, func(t trusted) bool { return t.Path == path })
	s.files = append(s.files, trusted{path, digest(text)})
	doc, err := tools.ToJSON(struct {
		Trusted []trusted `json:"trusted"`
	}{s.files})
	if err != nil {
		return err
	}
	if err := replaceFile(s.path, doc.String()+"\n"); err != nil {
		return fmt.Errorf("cannot keep what is trusted: %w", err)
	}
	return nil
}

// replaceFile writes a file that only the user can read, whole or not at all.
func replaceFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".runcode-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // gone already after the rename
	_, err = temp.WriteString(text)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

func newTrustCommand(s *streams) *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use:   "trust [FILE...]",
		Short: "Let configuration files of a working tree grant permissions and run programs",
		Long: "trust shows what the configuration files of a working tree would allow and run, and\n" +
			"remembers their paths and contents, so that their allow rules and hooks apply from now\n" +
			"on. A file that changes has to be trusted again; of the programs its hooks start only the\n" +
			"names are looked at, so one that is in the tree is trusted whatever becomes of it. Without\n" +
			"FILE it is about .claude/settings.json, .claude/settings.local.json and .mcp.json, whose\n" +
			"servers are then started, below --root. Files given with --config and --mcp are trusted by\n" +
			"that.",
		Example: "  runcode trust\n  runcode trust .claude/settings.json",
		RunE: func(_ *cobra.Command, args []string) error {
			return trustFiles(s, root, args)
		},
	}
	cmd.Flags().StringVar(&root, "root", ".", "the `directory` whose configuration it is")
	return cmd
}

func trustFiles(s *streams, root string, files []string) error {
	store, err := openTrust()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		if files, err = treeConfig(root); err != nil {
			return err
		}
		if path := filepath.Join(root, serverFile); regular(path) == nil {
			files = append(files, path)
		}
		if len(files) == 0 {
			return fmt.Errorf("nothing to trust: %s has no %s and no %s", root, strings.Join(treeFiles, " and no "), serverFile)
		}
	}
	for _, path := range files {
		if filepath.Base(path) == serverFile {
			if err := trustServers(s, store, path); err != nil {
				return err
			}
			continue
		}
		file, err := readConfig(path, root, false)
		if err != nil {
			return err
		}
		grants := file.settings.Grants()
		if file, err = file.trust(root); err != nil {
			return err
		}
		if err := store.add(file.path, file.text); err != nil {
			return err
		}
		if err := describeTrust(s.out, file.path, grants, file.hookCommands(root)); err != nil {
			return err
		}
	}
	return nil
}

// trustServers trusts a file of MCP servers.
func trustServers(s *streams, store *trustStore, path string) error {
	file, err := readServers(path)
	if err != nil {
		return err
	}
	if err := store.add(file.path, file.text); err != nil {
		return err
	}
	return describeTrust(s.out, file.path, nil, file.servers)
}

// describeTrust says what a file can do now that it is trusted.
func describeTrust(w io.Writer, path string, grants, commands []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "trusted %s\n", termtext.EscapeLine(path))
	for _, rule := range grants {
		fmt.Fprintf(&b, "  allows %s\n", termtext.EscapeLine(rule))
	}
	for _, command := range commands {
		fmt.Fprintf(&b, "  runs   %s\n", termtext.EscapeLine(command))
	}
	if len(grants)+len(commands) == 0 {
		b.WriteString("  it allows nothing and runs nothing, so it needed no trust\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
