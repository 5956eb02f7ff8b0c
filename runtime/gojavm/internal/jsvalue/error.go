package jsvalue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// Limit names a bound that a value or a text broke.
type Limit string

// The bounds of EncodeOptions and DecodeOptions.
const (
	LimitBytes Limit = "bytes"
	LimitNodes Limit = "nodes"
	LimitDepth Limit = "depth"
)

// ErrStopped is returned when the Stop of the options asked for the end.
var ErrStopped = errors.New("the conversion was stopped")

// Error says which part of a value cannot be written as JSON, and why.
type Error struct {
	Path    string // "args.list[2].total"; the root's label alone for the whole value
	Problem string // predicate, "is NaN"
	Limit   Limit  // the bound that was broken, empty if the value's kind is the problem
	Promise bool   // the value is a promise nobody awaited
	cause   error
}

func (e *Error) Error() string {
	if e.Promise {
		return "promise at " + e.Path + "; use await Promise.all"
	}
	return e.Path + " " + e.Problem
}

// Unwrap returns the *goja.Exception a getter or a Proxy trap threw, or nil.
func (e *Error) Unwrap() error { return e.cause }

// RangeError says that a JSON text breaks a bound of DecodeOptions, or holds a
// number the engine cannot hold.
type RangeError struct {
	Offset  int // in bytes from the start of the text
	Problem string
	Limit   Limit // empty: a number out of range
}

func (e *RangeError) Error() string { return e.Problem }

// appendPathKey appends a property access as a program would write it.
func appendPathKey(b []byte, key string) []byte {
	if isIdentifier(key) {
		if len(b) > 0 {
			b = append(b, '.')
		}
		return append(b, key...)
	}
	const most = 60
	if len(key) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(key[cut]) {
			cut--
		}
		key = key[:cut] + "…"
	}
	b = append(b, '[')
	b = strconv.AppendQuote(b, key)
	return append(b, ']')
}

func isIdentifier(s string) bool {
	if s == "" || len(s) > 60 {
		return false
	}
	for i, r := range s {
		switch {
		case r == '_', r == '$', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		case '0' <= r && r <= '9' && i > 0:
		default:
			return false
		}
	}
	return true
}

// thrown describes an exception without letting a hostile toString loose.
func thrown(vm *goja.Runtime, ex *goja.Exception) string {
	text := "a value that cannot be shown"
	_ = vm.Try(func() {
		if v := ex.Value(); v != nil {
			text = v.String()
		}
	})
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// recovered turns what a panic carried into an error. Interrupts and stack
// overflows keep their type, so that a caller inside a native function can
// panic with them again.
func recovered(x any) error {
	if err, ok := x.(error); ok {
		var interrupted *goja.InterruptedError
		var overflow *goja.StackOverflowError
		if errors.As(err, &interrupted) || errors.As(err, &overflow) {
			return err
		}
	}
	return fmt.Errorf("the engine failed while a value was converted: %v", x)
}

// Uncatchable reports whether err is an interrupt or a stack overflow. A native
// function that gets one must panic with it, so that the program cannot go on.
func Uncatchable(err error) bool {
	var interrupted *goja.InterruptedError
	var overflow *goja.StackOverflowError
	return errors.As(err, &interrupted) || errors.As(err, &overflow)
}
