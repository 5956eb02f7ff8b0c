package worker

import (
	"os"
	"testing"
)

func TestResident(t *testing.T) {
	if n, ok := resident(os.Getpid()); !ok || n < 1<<20 || n > 1<<40 {
		t.Errorf("this process has %d bytes, %v", n, ok)
	}
	for _, pid := range []int{-1, 0, 1 << 30} {
		if n, ok := resident(pid); ok {
			t.Errorf("process %d has %d bytes", pid, n)
		}
	}
}

func TestParseStatm(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       int64
		ok         bool
	}{
		{"plain", "315 212 100 17 0 72 0\n", 212, true},
		{"no more than needed", "315 0", 0, true},
		{"cut", "315", 0, false},
		{"empty", "", 0, false},
		{"no number", "315 x 1", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := parseStatm([]byte(tt.text)); ok != tt.ok || ok && got != tt.want {
				t.Errorf("%d %v, want %d %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}
