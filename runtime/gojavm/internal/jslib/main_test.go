package jslib_test

import (
	"os"
	"testing"
	"time"
)

// TestMain makes UTC the time zone of programs, as it was for the golden files.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}
