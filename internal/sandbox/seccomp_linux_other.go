//go:build linux && !amd64 && !arm64

package sandbox

// No filter was made and tried for this processor.
var arch architecture
