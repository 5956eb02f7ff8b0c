//go:build !unix

package mcptools

func serveProgram(string) {}
