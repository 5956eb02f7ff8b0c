package mcptools

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// modeVariable makes this test binary a server; see programs_unix_test.go.
const modeVariable = "MCPTOOLS_TEST_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		serveProgram(mode)
		return
	}
	goleak.VerifyTestMain(m)
}
