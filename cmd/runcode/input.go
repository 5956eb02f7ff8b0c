package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/runcode-go/runcode/tools"
)

// What is read of a file at most. The runtime's own limits are smaller and give
// the better error; these keep an endless file from filling the memory.
const (
	maxScriptFile = 16 << 20
	maxInputFile  = 64 << 20
)

// readScript reads a program from a file, or from stdin if path is "-".
func readScript(stdin io.Reader, path string) (string, error) {
	if path == "-" {
		text, err := readBounded(stdin, maxScriptFile)
		if err != nil {
			return "", fmt.Errorf("cannot read the script from standard input: %w", orWithTool(err))
		}
		return text, nil
	}
	text, err := readFile(path, maxScriptFile)
	if err != nil {
		err = orWithTool(err)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) {
			return "", fmt.Errorf("cannot read the script: %w; name a file, or - for standard input", err)
		}
		return "", fmt.Errorf("cannot read the script: %w", err)
	}
	return text, nil
}

// withoutHashbang makes a first line for the shell a comment, which leaves every
// line and column where it is.
func withoutHashbang(code string) string {
	if rest, ok := strings.CutPrefix(code, "#!"); ok {
		return "//" + rest
	}
	return code
}

// readValue reads a JSON value given as text or as @FILE; the name says where it
// was given.
func readValue(name, given string) (tools.JSON, error) {
	if file, ok := strings.CutPrefix(given, "@"); ok {
		text, err := readFile(file, maxInputFile)
		if err != nil {
			return tools.JSON{}, fmt.Errorf("%s: cannot read the file: %w", name, orWithTool(err))
		}
		input, err := tools.ParseJSON(strings.TrimPrefix(text, "\uFEFF"))
		if err != nil {
			return tools.JSON{}, fmt.Errorf("%s: %s: %w", name, file, err)
		}
		return input, nil
	}
	input, err := tools.ParseJSON(given)
	if err != nil {
		return tools.JSON{}, fmt.Errorf("%s: %w; give JSON text, or @FILE to read it from a file", name, err)
	}
	return input, nil
}

// orWithTool says how a program gets at what is too large to be given to it.
func orWithTool(err error) error {
	if errors.Is(err, errTooLarge) {
		return fmt.Errorf("%w; let the program read data with a tool", err)
	}
	return err
}

var errTooLarge = errors.New("which is the most that is read")

func readFile(path string, limit int64) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := readBounded(file, limit)
	var at *fs.PathError
	if err != nil && !errors.As(err, &at) {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return text, err
}

func readBounded(r io.Reader, limit int64) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return "", err
	}
	if int64(len(text)) > limit {
		return "", fmt.Errorf("more than %d MiB, %w", limit>>20, errTooLarge)
	}
	return string(text), nil
}
