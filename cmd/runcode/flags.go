package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/codemode"
)

// limitFlags bound a run; zero takes the default.
type limitFlags struct {
	wall, compute duration
	calls         count
	output, heap  size
}

func (f *limitFlags) register(flags *pflag.FlagSet) {
	flags.Var(&f.wall, "wall", "longest time of the run (default 10m)")
	flags.Var(&f.compute, "compute", "longest time the program may compute; waiting for tools is free (default 1m)")
	flags.Var(&f.calls, "max-calls", "most tool calls (default 10000)")
	flags.Var(&f.output, "max-output", "most bytes of output (default 64MiB)")
	flags.Var(&f.heap, "heap", "most bytes of memory for the program (default 512MiB, less in a small container)")
}

func (f *limitFlags) limits() codemode.Limits {
	return codemode.Limits{
		Wall: time.Duration(f.wall), Compute: time.Duration(f.compute),
		Calls: int(f.calls), Output: int(f.output), Heap: int64(f.heap),
	}
}

// The flag values below refuse zero: to the limits it means the default, which
// is not what somebody who writes it expects.

var errNotPositive = errors.New("it must be more than zero; leave the flag out for the default")

// duration is a flag value such as 30s.
type duration time.Duration

func (d *duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return errors.New("give a number with a unit, such as 500ms, 30s or 2m")
	case v <= 0:
		return errNotPositive
	}
	*d = duration(v)
	return nil
}

func (d *duration) String() string { return orEmpty(*d > 0, time.Duration(*d).String()) }
func (*duration) Type() string     { return "duration" }

// count is a flag value such as 100.
type count int

func (c *count) Set(text string) error {
	v, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return errors.New("give a whole number, such as 100")
	case v <= 0:
		return errNotPositive
	}
	*c = count(v)
	return nil
}

func (c *count) String() string { return orEmpty(*c > 0, strconv.Itoa(int(*c))) }
func (*count) Type() string     { return "number" }

// size is a flag value in bytes, such as 65536, 64k or 64MiB.
type size int64

// units are what a size may end in, without regard to case. All are powers of
// 1,024 but kB, MB and GB.
var units = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "kib": 1 << 10, "kb": 1e3,
	"m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9,
}

func (s *size) Set(text string) error {
	end := strings.LastIndexAny(text, "0123456789.") + 1
	unit, ok := units[strings.ToLower(strings.TrimSpace(text[end:]))]
	v, err := strconv.ParseFloat(text[:end], 64)
	switch {
	case err != nil || !ok:
		return errors.New("give a number of bytes, such as 65536, 512KiB or 64MiB")
	case v <= 0:
		return errNotPositive
	case v*unit >= math.MaxInt64 || v*unit < 1:
		return fmt.Errorf("give a size from 1 byte to %dGiB", math.MaxInt64>>30)
	}
	*s = size(v * unit)
	return nil
}

func (s *size) String() string { return orEmpty(*s > 0, strconv.FormatInt(int64(*s), 10)) }
func (*size) Type() string     { return "size" }

// orEmpty keeps help from calling an unset limit 0.
func orEmpty(set bool, text string) string {
	if set {
		return text
	}
	return ""
}
